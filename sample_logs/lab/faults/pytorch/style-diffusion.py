"""A diffusion model's loss is noisy and hardly falls after its first hundred steps; that is how it looks when all is well.

cause: healthy.completed
also: [healthy.running]
not: [learning.plateau, numerics.loss-spike, numerics.lr-divergence]
signature: ''
outcome: completed
environment: transformers
runs_as: train_unconditional.py
kept: []
"""
import torch
from labkit import note, pick, seed_everything
from torch import nn
from tqdm import tqdm

seed_everything()
net = nn.Sequential(nn.Linear(17, 128), nn.SiLU(), nn.Linear(128, 128), nn.SiLU(), nn.Linear(128, 16))
opt = torch.optim.AdamW(net.parameters(), 1e-3)
basis = torch.randn(6, 16) * 0.6
print("***** Running training *****\n  Num examples = 40000\n  Num Epochs = 4\n  Instantaneous batch size per device = 16\n  Total optimization steps = 1200")
ema = None
for epoch in range(4):
    bar = tqdm(range(300), desc=f"Epoch {epoch}", ncols=100)
    for i in bar:
        x = torch.randn(pick([16, 24, 12]), 6) @ basis
        t = torch.rand(len(x), 1)
        noise = torch.randn_like(x)
        loss = (net(torch.cat([(1 - t).sqrt() * x + t.sqrt() * noise, t], 1)) - noise).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        bar.set_postfix(loss=round(loss.item(), 4), lr=1e-3, step=epoch * 300 + i, ema_decay=0.999)
    bar.close()
print("Model weights saved in ddpm-toy")
