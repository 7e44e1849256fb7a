"""A rate that grows by 5 % a step makes the loss climb; the clipping with error_if_nonfinite ends the run when the norm is no longer finite.

cause: numerics.lr-divergence
also: [numerics.gradient-explosion]
not: [numerics.bad-batch, numerics.fp16-overflow]
signature: 'is non-finite, so it cannot be clipped'
runs_as: train_flow.py
kept: []
"""
import torch
from labkit import note, pick, seed_everything

seed_everything()
lr = pick([0.003, 0.004, 0.005])
print(f"hyperparameters: lr={lr} momentum=0.9 batch=256 clip=1e9")
net = torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.LeakyReLU(0.2), torch.nn.Linear(64, 64), torch.nn.LeakyReLU(0.2), torch.nn.Linear(64, 16))
opt = torch.optim.SGD(net.parameters(), lr=lr, momentum=0.9)
sched = torch.optim.lr_scheduler.ExponentialLR(opt, 1.05)
x = torch.randn(4096, 16)
y = x.roll(1, 1) * 2
for step in range(400):
    i = torch.randint(0, 4096, (256,))
    loss = (net(x[i]) - y[i]).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(net.parameters(), 1e9, error_if_nonfinite=True)
    opt.step()
    sched.step()
    print(f"step={step} loss={loss.item():.6g} grad_norm={norm.item():.6g} lr={sched.get_last_lr()[0]:.4g}")
    note("loss", step, float(f"{loss.item():.6g}"))
