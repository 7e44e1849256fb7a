"""A healthy mixed-precision run: the scaler starts too high, skips the first updates and halves its scale, then settles; the loss falls to the end.

cause: healthy.completed
also: [healthy.running]
not: [numerics.loss-scale-exhausted, numerics.fp16-overflow, numerics.lr-divergence, numerics.nonfinite-unknown]
outcome: completed
runs_as: train_amp.py
"""

import logging

import torch
from labkit import note, pick, seed_everything
from torch import nn

logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s", level=logging.INFO)
seed_everything()
model = nn.Sequential(nn.Linear(30, 96), nn.GELU(), nn.Linear(96, 96), nn.GELU(), nn.Linear(96, 8))
optimizer = torch.optim.AdamW(model.parameters(), lr=pick([2e-3, 3e-3, 1e-3]))
scaler = torch.amp.GradScaler("cpu", init_scale=pick([2.0**22, 2.0**24, 2.0**21]), growth_interval=pick([60, 70, 60]))
x = torch.randn(4096, 30)
y = (x @ torch.randn(30, 8)).argmax(1)
logging.info("mixed precision float16, initial scale %.0f", scaler.get_scale())
for step in range(1, 151):
    rows = torch.randint(0, 4096, (64,))
    with torch.autocast("cpu", dtype=torch.float16):
        loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
    optimizer.zero_grad(set_to_none=True)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    norm = nn.utils.clip_grad_norm_(model.parameters(), 5.0)
    before = scaler.get_scale()
    scaler.step(optimizer)
    scaler.update()
    if scaler.get_scale() < before:
        logging.warning("Gradient overflow. Skipping step %d, reducing loss scale to %.1f", step, scaler.get_scale())
    if step % 5 == 0 or step < 8:
        logging.info("step %d loss %.4f grad_norm %.4f loss_scale %.1f", step, loss.item(), norm.item(), scaler.get_scale())
        note("loss", step, float(f"{loss.item():.4f}"))
        note("grad_norm", step, float(f"{norm.item():.4f}"))
        note("loss_scale", step, scaler.get_scale())
logging.info("training finished, train accuracy %.3f", (model(x).argmax(1) == y).float().mean().item())
