"""Weights in bfloat16 with plain SGD and a small rate: each update is below half of the last bit, nothing moves.

cause: learning.plateau
also: []
not: [numerics.lr-divergence, healthy.completed, numerics.fp16-overflow]
signature: ''
outcome: completed
step_basis: ordinal
runs_as: train_bf16.py
kept: []
"""
import torch
from labkit import note, pick, seed_everything

seed_everything()
classes = pick([10, 20, 50])
net = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, classes)).bfloat16()
centres = torch.randn(classes, 64)
opt = torch.optim.SGD(net.parameters(), lr=1e-4)
print(f"=> {classes} classes, weights {next(net.parameters()).dtype}, SGD lr=0.0001 momentum=0.0")
for epoch in range(40):
    total, hits = 0.0, 0
    for _ in range(10):
        y = torch.randint(0, classes, (128,))
        out = net((centres[y] * 0.5 + torch.randn(128, 64)).bfloat16()).float()
        loss = torch.nn.functional.cross_entropy(out, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() / 10
        hits += (out.argmax(1) == y).sum().item()
    print(f"Epoch {epoch + 1}/40 - loss: {total:.4f} - accuracy: {hits / 1280:.4f} - lr: 1.0000e-04")
    note("loss", epoch + 1, float(f"{total:.4f}"))
