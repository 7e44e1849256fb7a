"""One target is 1e30 for want of a unit conversion: the loss jumps to 1e56 there and is NaN afterwards.

cause: numerics.bad-batch
also: [numerics.gradient-explosion, numerics.nonfinite-unknown]
not: [numerics.lr-divergence, numerics.fp16-overflow, numerics.unstable-op]
signature: 'nan'
runs_as: regress.py
kept: []
"""
import torch
from labkit import note, pick, seed_everything
from torch import nn

seed_everything()
net = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 1))
opt = torch.optim.SGD(net.parameters(), 1e-2)
print(f"{'step':>6} {'mse':>12} {'|y|max':>10} {'lr':>8}")
for step in range(1, 151):
    x = torch.randn(64, 8)
    y = x.sum(1, keepdim=True)
    if step == pick([97, 71, 113]):
        y[11] = 1e18
    loss = (net(x) - y).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(f"{step:6d} {loss.item():12.5g} {y.abs().max().item():10.3g} {1e-2:8.0e}")
    note("loss", step, float(f"{loss.item():.5g}"))
