"""A regressor of raw counts up to 120000 under float16 autocast: as it learns, its outputs rise through 65504 and become inf, and so does the loss.

cause: numerics.fp16-overflow
also: [numerics.nonfinite-unknown]
not: [numerics.lr-divergence, numerics.bad-batch, numerics.corrupt-weights, healthy.running]
signature: 'loss +(inf|nan)'
runs_as: fit_counts.py
"""

import logging

import torch
from labkit import note, pick, seed_everything

logging.basicConfig(format="%(asctime)s %(levelname)-7s %(message)s", level=logging.INFO, datefmt="%Y-%m-%d %H:%M:%S")
log = logging.getLogger("fit")
seed_everything()
TOP = pick([120000, 98304, 150000])
WIDTH = pick([64, 48, 96])
signal = torch.rand(2048, 8)
counts = (signal[:, :3].mean(1, keepdim=True) * TOP).round()
net = torch.nn.Sequential(torch.nn.Linear(8, WIDTH), torch.nn.ReLU(), torch.nn.Linear(WIDTH, WIDTH), torch.nn.ReLU(), torch.nn.Linear(WIDTH, 1))
optimizer = torch.optim.AdamW(net.parameters(), lr=pick([3e-2, 4e-2, 3e-2]), weight_decay=0.0)
log.info("detector counts: min %.0f, mean %.0f, max %.0f", counts.min(), counts.mean(), counts.max())
log.info("mixed precision: torch.autocast('cpu', dtype=torch.float16), no loss scaling, weights in float32")
step = 0
for epoch in range(1, 4):
    for rows in torch.randperm(len(signal)).split(64):
        step += 1
        with torch.autocast("cpu", dtype=torch.float16):
            out = net(signal[rows])
        loss = (out.float() - counts[rows]).abs().mean()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        log.info("epoch %d step %3d  loss %12.2f  pred_max %9.1f (%s)", epoch, step, loss.item(), out.max().item(), str(out.dtype).replace("torch.", ""))
        note("loss", step, float(f"{loss.item():.2f}"))
log.info("finished after %d steps", step)
