"""A layer is made with torch.empty and never initialised (here: huge values are put in, as old memory may hold them): the first loss is inf or NaN.

cause: numerics.corrupt-weights
also: [numerics.nonfinite-unknown, numerics.gradient-explosion]
not: [numerics.lr-divergence, numerics.bad-batch, numerics.fp16-overflow]
signature: 'train_loss (nan|inf)'
note: the values of uninitialised memory are put in by the script, for a run that can be repeated
runs_as: train_adapter.py
kept: []
"""
import torch
from labkit import note, pick, seed_everything
from torch import nn

seed_everything()
net = nn.Linear(32, 8)
adapter = nn.Parameter(torch.empty(32, 32).fill_(0.0))
adapter.data[:4] = pick([3.4e37, 1.1e38, 2.9e38])
print("some weights were not initialized from the checkpoint and are newly initialized: ['adapter.weight']")
print(f"adapter.weight: shape (32, 32) absmax {adapter.abs().max().item():.3e} mean {adapter.mean().item():.3e}")
opt = torch.optim.AdamW([*net.parameters(), adapter], 1e-4)
for step in range(1, 16):
    x = torch.randn(16, 32)
    loss = nn.functional.cross_entropy(net(x + x @ adapter * 8), torch.randint(0, 8, (16,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(f"global_step {step} - train_loss {loss.item():.4f} - lr 1.00e-04")
    note("loss", step, float(f"{loss.item():.4f}"))
