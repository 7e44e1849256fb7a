"""Mixed precision whose gradients are not finite in any step: the scaler skips every update and halves its scale without end, while the printed loss stays finite and unchanged.

cause: numerics.loss-scale-exhausted
also: [numerics.fp16-overflow, numerics.nonfinite-unknown, numerics.unstable-op]
not: [numerics.lr-divergence, healthy.running, healthy.completed, numerics.unscale-fp16-gradients]
signature: 'scale [0-9.]+e-[0-9]+ '
first_failure: 'skipped'
runs_as: train_amp.py
note: the gradients are NaN because a group penalty takes the square root of pruned groups, which the log does not show.
"""

import time

import torch
from labkit import note, pick, seed_everything
from torch import nn

seed_everything()
WIDTH = pick([64, 48, 96])
model = nn.Sequential(nn.Linear(24, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 6))
with torch.no_grad():
    model[2].weight[torch.randperm(WIDTH)[: WIDTH // 8]] = 0
optimizer = torch.optim.AdamW(model.parameters(), lr=pick([1e-3, 5e-4, 2e-3]))
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**16)
x = torch.randn(1024, 24)
y = (x[:, :6]).argmax(1)
print(f"device cpu | autocast float16 | GradScaler init_scale {scaler.get_scale():.0f} growth_interval {scaler.get_growth_interval()} | params {sum(p.numel() for p in model.parameters())}")
start = time.perf_counter()
skipped = 0
for step in range(1, 61):
    rows = torch.randint(0, 1024, (64,))
    with torch.autocast("cpu", dtype=torch.float16):
        loss = nn.functional.cross_entropy(model(x[rows]).float(), y[rows])
        loss = loss + 1e-4 * model[2].weight.square().sum(1).sqrt().sum()
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    before = scaler.get_scale()
    scaler.step(optimizer)
    scaler.update()
    skip = scaler.get_scale() < before
    skipped += skip
    print(f"step {step:3d}/60 | loss {loss.item():.4f} | scale {scaler.get_scale():.4g} | {'skipped' if skip else 'ok     '} ({skipped} so far) | {time.perf_counter() - start:.1f}s")
    note("loss", step, float(f"{loss.item():.4f}"))
    note("loss_scale", step, float(f"{scaler.get_scale():.4g}"))
