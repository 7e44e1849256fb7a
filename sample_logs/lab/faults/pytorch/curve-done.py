"""Two runs end with the same sentence: one falls smoothly, the other has a sudden spike from which it recovers.

cause: healthy.completed
runs_as: train_resnet.py
variants:
  smooth:
    story: A small network learns and the run ends normally.
    outcome: completed
    cause: healthy.completed
    also: [healthy.running]
    not: [numerics.loss-spike, numerics.lr-divergence]
  spike:
    story: One batch of mislabelled outliers throws the loss up in the middle of the run; it recovers over the next steps, and the run ends normally.
    outcome: completed
    cause: numerics.loss-spike
    also: [numerics.bad-batch]
    not: [numerics.lr-divergence, numerics.gradient-explosion, numerics.nonfinite-unknown]
"""

import logging

import torch
from labkit import VARIANT, note, pick, seed_everything

seed_everything()
logging.basicConfig(format="%(asctime)s | %(levelname)s | %(message)s", level=logging.INFO)
log = logging.getLogger("train")
model = torch.nn.Sequential(torch.nn.Linear(12, 48), torch.nn.ReLU(), torch.nn.Linear(48, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=pick([3e-3, 5e-3, 4e-3]))
inputs = torch.randn(2000, 12)
targets = (inputs[:, :3].sum(1, keepdim=True)).tanh() * 2
peak = pick([260, 300, 220])
for step in range(1, 501):
    rows = torch.randint(0, 2000, (64,))
    wanted = targets[rows]
    if VARIANT == "spike" and peak <= step < peak + 4:
        wanted = wanted * 12 + 15
    loss = torch.nn.functional.mse_loss(model(inputs[rows]), wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 2 == 0:
        log.info("step=%d loss=%.5f", step, loss.item())
        note("loss", step, float(f"{loss.item():.5f}"))
log.info("Training finished after 500 steps, model saved to model.pt")
