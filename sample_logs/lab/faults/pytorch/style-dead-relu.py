"""One step at a huge rate kills every hidden unit: the loss freezes at the level of a constant prediction and never moves again.

cause: learning.collapse
also: [learning.plateau, numerics.lr-divergence]
not: [healthy.completed, healthy.running, numerics.bad-batch]
signature: ''
outcome: completed
step_basis: ordinal
runs_as: mlp.py
kept: []
"""
import torch
from labkit import note, pick, seed_everything
from torch import nn

seed_everything()
net = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
w = torch.randn(16, 1)
for epoch in range(1, 61):
    for group in opt.param_groups:
        group["lr"] = pick([6.0, 8.0, 10.0]) if epoch == 12 else 0.01
    total = 0.0
    for _ in range(5):
        x = torch.randn(256, 16)
        loss = nn.functional.smooth_l1_loss(net(x), (x @ w).abs())
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() / 5
    alive = (net[:2](torch.randn(256, 16)) > 0).float().mean().item()
    print(f"epoch: {epoch:3d}, train loss: {total:.5f}, active units: {alive:.3f}, lr: {opt.param_groups[0]['lr']}")
    note("loss", epoch, float(f"{total:.5f}"))
