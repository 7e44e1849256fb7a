"""A table of epochs as fastai prints it; time, losses and an error rate.

cause: healthy.completed
also: [healthy.running]
not: [learning.plateau, learning.collapse, numerics.lr-divergence]
signature: ''
outcome: completed
step_basis: ordinal
runs_as: learn.py
kept: []
"""
import time
import torch
from labkit import note, pick, seed_everything
from torch import nn

seed_everything()
net = nn.Sequential(nn.Linear(16, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 5))
opt = torch.optim.AdamW(net.parameters(), pick([5e-3, 3e-3, 8e-3]))
w = torch.randn(16, 5)
print("epoch     train_loss  valid_loss  error_rate  time")
smooth = None
for epoch in range(10):
    start = time.time()
    for _ in range(60):
        x = torch.randn(64, 16)
        loss = nn.functional.cross_entropy(net(x), (x @ w).argmax(1))
        opt.zero_grad()
        loss.backward()
        opt.step()
        smooth = loss.item() if smooth is None else 0.98 * smooth + 0.02 * loss.item()
    net.eval()
    x = torch.randn(500, 16)
    y = (x @ w).argmax(1)
    out = net(x)
    net.train()
    print(f"{epoch:<10}{smooth:<12.6f}{nn.functional.cross_entropy(out, y).item():<12.6f}{(out.argmax(1) != y).float().mean().item():<12.6f}00:0{int(time.time() - start)}")
    note("loss", epoch, float(f"{smooth:.6f}"))
