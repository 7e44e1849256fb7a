"""Two runs end with the same sentence: one learns, in the other the loss explodes in the first epoch and stays frozen at a finite, useless value.

cause: healthy.completed
runs_as: classify.py
step_basis: epoch
outcome: completed
variants:
  learning:
    story: A small classifier learns and the run ends normally.
    cause: healthy.completed
    also: [healthy.running]
    not: [learning.collapse, learning.plateau]
  frozen:
    story: With a rate that is far too high the hidden units die; the loss jumps and then stays at the same value while accuracy is that of a constant answer.
    cause: learning.collapse
    also: [learning.plateau, numerics.lr-divergence]
    not: [healthy.completed, numerics.fp16-overflow]
"""

import torch
from labkit import VARIANT, note, pick, seed_everything

seed_everything()
rate = pick([0.1, 0.05, 0.2]) if VARIANT == "learning" else pick([60.0, 90.0, 40.0])
model = torch.nn.Sequential(torch.nn.Linear(10, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=rate)
inputs = torch.randn(1200, 10)
labels = (inputs @ torch.randn(10, 4)).argmax(-1)
for epoch in range(1, 31):
    total, hits = 0.0, 0
    for rows in torch.randperm(1200).split(100):
        logits = model(inputs[rows])
        loss = torch.nn.functional.cross_entropy(logits, labels[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total, hits = total + loss.item() * 100, hits + (logits.argmax(-1) == labels[rows]).sum().item()
    if VARIANT == "frozen" and epoch == 1:
        for group in optimizer.param_groups:
            group["lr"] = 1e-3
    print(f"Epoch {epoch}/30 - loss: {total / 1200:.4f} - accuracy: {hits / 1200:.4f}")
    note("loss", epoch, float(f"{total / 1200:.4f}"))
print("Finished training.")
