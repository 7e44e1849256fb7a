"""Cosine rates with warm restarts: the loss goes up a little at each restart and ends lower than ever.

cause: healthy.completed
also: [healthy.running]
not: [numerics.lr-divergence, numerics.loss-spike, learning.collapse]
signature: ''
outcome: completed
step_basis: ordinal
runs_as: main.py
"""
import torch
from labkit import note, pick, seed_everything
from torch import nn

seed_everything()
net = nn.Sequential(nn.Linear(24, 96), nn.ReLU(), nn.Linear(96, 6))
opt = torch.optim.SGD(net.parameters(), pick([0.3, 0.25, 0.35]), momentum=0.9)
sched = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(opt, 15, 1)
w = torch.randn(24, 6)
x = torch.randn(3000, 24)
y = (x @ w + 0.8 * torch.randn(3000, 6)).argmax(1)
for epoch in range(60):
    total = 0.0
    for i in range(30):
        rows = torch.randint(0, 3000, (100,))
        loss = nn.functional.cross_entropy(net(x[rows]), y[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() / 30
    print(f"Epoch {epoch:>2}: lr={sched.get_last_lr()[0]:.5f}  train_loss={total:.4f}  train_acc={(net(x).argmax(1) == y).float().mean().item():.4f}")
    note("loss", epoch, float(f"{total:.4f}"))
    sched.step()
print("Finished Training")
