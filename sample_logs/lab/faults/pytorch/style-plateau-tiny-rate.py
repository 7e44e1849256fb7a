"""A rate of 1e-9 by a slip (1e-4 times a scale that was applied twice): the loss moves in the fourth digit only.

cause: learning.plateau
also: []
not: [healthy.completed, numerics.lr-divergence, learning.collapse]
signature: ''
outcome: completed
environment: transformers
step_basis: ordinal
runs_as: finetune.py
kept: []
"""
import torch
from labkit import note, pick, seed_everything
from torch import nn
from tqdm import tqdm

seed_everything()
classes = pick([10, 20, 5])
net = nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.Linear(64, classes))
opt = torch.optim.AdamW(net.parameters(), lr=1e-9)
centres = torch.randn(classes, 32)
tqdm.write(f"classes={classes} optimizer=AdamW lr={opt.param_groups[0]['lr']:.0e} wd=0.01 epochs=12")
for epoch in range(12):
    total = 0.0
    for i in tqdm(range(50), desc=f"epoch {epoch}", leave=False, ncols=80):
        y = torch.randint(0, classes, (64,))
        loss = nn.functional.cross_entropy(net(centres[y] + torch.randn(64, 32)), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() / 50
    tqdm.write(f"epoch {epoch} | train_loss {total:.4f} | lr {opt.param_groups[0]['lr']:.2e} | 0m01s")
    note("loss", epoch, float(f"{total:.4f}"))
