"""A linear warm-up that forgets its upper bound: the rate rises with every step past its peak until the loss, long falling, turns and climbs to inf and NaN.

cause: numerics.lr-divergence
also: [numerics.gradient-explosion]
not: [numerics.fp16-overflow, numerics.bad-batch, healthy.running, numerics.corrupt-weights]
signature: 'loss +(inf|nan)'
runs_as: train_forecast.py
"""

import logging

import numpy as np
import torch
from labkit import note, pick, seed_everything
from torch import nn

logging.basicConfig(format="%(asctime)s.%(msecs)03d %(levelname).1s %(filename)s:%(lineno)d] %(message)s", datefmt="%H:%M:%S", level=logging.INFO)
seed_everything()
PEAK, WARMUP = pick([(0.1, 20), (0.1, 20), (0.12, 24)])
series = np.sin(np.arange(4000) / 9) + 0.3 * np.sin(np.arange(4000) / 31)
windows = torch.tensor(np.lib.stride_tricks.sliding_window_view(series, 41).copy(), dtype=torch.float32)
model = nn.Sequential(nn.Linear(40, 64), nn.LeakyReLU(), nn.Linear(64, 64), nn.LeakyReLU(), nn.Linear(64, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=PEAK, momentum=0.9)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: (step + 1) / WARMUP)
logging.info("%d windows, peak rate %g, warm-up %d steps", len(windows), PEAK, WARMUP)
for step in range(1, 201):
    rows = torch.randint(0, len(windows), (64,))
    loss = nn.functional.mse_loss(model(windows[rows, :40]), windows[rows, 40:])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    rate = scheduler.get_last_lr()[0]
    scheduler.step()
    if step % 3 == 0:
        logging.info("step %4d  loss %11.6g  lr %.4f", step, loss.item(), rate)
        note("loss", step, float(f"{loss.item():.6g}"))
        note("learning_rate", step, float(f"{rate:.4f}"))
