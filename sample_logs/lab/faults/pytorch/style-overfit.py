"""Training goes on to fall while the validation loss rises: overfitting, but nothing failed; it ran all its epochs.

cause: healthy.completed
also: [healthy.running]
not: [numerics.lr-divergence, learning.collapse, numerics.loss-spike, learning.plateau]
signature: ''
outcome: completed
runs_as: run.py
"""
import torch
from labkit import note, pick, seed_everything
from torch import nn

seed_everything()
net = nn.Sequential(nn.Linear(40, 256), nn.ReLU(), nn.Linear(256, 4))
opt = torch.optim.Adam(net.parameters(), pick([1e-3, 2e-3, 8e-4]))
w = torch.randn(40, 4)


def part(n):
    x = torch.randn(n, 40)
    return x, (x @ w + 5 * torch.randn(n, 4)).argmax(1)


(x, y), (vx, vy) = part(300), part(300)
best = 9e9
print("Epoch | Train loss | Valid loss | Valid acc | Best")
for epoch in range(1, 61):
    for i in range(0, 300, 50):
        loss = nn.functional.cross_entropy(net(x[i : i + 50]), y[i : i + 50])
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        train, valid = nn.functional.cross_entropy(net(x), y).item(), nn.functional.cross_entropy(net(vx), vy).item()
    mark = "*" if valid < best else ""
    best = min(best, valid)
    print(f"{epoch:5d} | {train:10.4f} | {valid:10.4f} | {(net(vx).argmax(1) == vy).float().mean().item():9.4f} | {mark}")
print(f"Training complete. Best valid loss: {best:.4f}")
