"""Cosine similarity by hand: a padded row is all zeros, its norm is 0, and the division gives NaN from that batch on.

cause: numerics.unstable-op
also: [numerics.bad-batch, numerics.nonfinite-unknown, numerics.padding-or-mask]
not: [numerics.lr-divergence, numerics.fp16-overflow, memory.cuda-oom]
signature: 'nan'
environment: transformers
step_basis: ordinal
runs_as: train_clip_small.py
kept: []
"""
import torch
from labkit import note, pick, seed_everything
from torch import nn
from tqdm import tqdm

seed_everything()
image, text = nn.Linear(64, 32, bias=False), nn.Linear(48, 32, bias=False)
opt = torch.optim.AdamW([*image.parameters(), *text.parameters()], lr=1e-3)
link = torch.randn(64, 48)
bad = pick([130, 90, 170])
bar = tqdm(range(220), desc="Epoch 1/1", mininterval=0, ncols=110)
for step in bar:
    x = torch.randn(32, 64)
    t = x @ link / 8
    if step == bad:
        t[-1] = 0.0
    a, b = image(x), text(t)
    a, b = a / a.norm(dim=-1, keepdim=True), b / b.norm(dim=-1, keepdim=True)
    logits = a @ b.T * 14.3
    y = torch.arange(32)
    loss = (nn.functional.cross_entropy(logits, y) + nn.functional.cross_entropy(logits.T, y)) / 2
    opt.zero_grad()
    loss.backward()
    opt.step()
    bar.set_postfix(loss=f"{loss.item():.4f}", lr="1.0e-03", pad_rows=int((t == 0).all(1).sum()))
    note("loss", step, float(f"{loss.item():.4f}"))
