"""A small image classifier under SGD with momentum and a rate many times too high, no clipping: the running loss grows over a dozen batches and is then NaN.

cause: numerics.lr-divergence
also: [numerics.gradient-explosion]
not: [numerics.fp16-overflow, numerics.bad-batch, healthy.running, numerics.corrupt-weights]
signature: 'Loss: +(nan|inf)'
runs_as: train_images.py
launch: python train_images.py --model convnet_tiny --opt momentum
"""

import argparse
import logging
import time

import torch
from labkit import note, pick, seed_everything
from torch import nn

_logger = logging.getLogger("train")
logging.basicConfig(format="%(message)s", level=logging.INFO)
parser = argparse.ArgumentParser()
parser.add_argument("--model", default="convnet_tiny")
parser.add_argument("--opt", default="momentum")
parser.add_argument("--lr", type=float, default=pick([1.0, 3.0, 1.5]))
parser.add_argument("--momentum", type=float, default=0.9)
parser.add_argument("--batch-size", type=int, default=pick([32, 64, 16]))
args = parser.parse_args()
seed_everything()


class AverageMeter:
    def __init__(self):
        self.val = self.sum = self.count = 0

    def update(self, val, n=1):
        self.val, self.sum, self.count = val, self.sum + val * n, self.count + n

    @property
    def avg(self):
        return self.sum / self.count


images = torch.rand(30 * args.batch_size, 3, 16, 16)
labels = (images.mean((1, 2, 3)) * 1000).long() % 10
model = nn.Sequential(nn.Conv2d(3, 24, 3, padding=1), nn.LeakyReLU(), nn.MaxPool2d(2), nn.Conv2d(24, 48, 3, padding=1), nn.LeakyReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(192, 10))
_logger.info("Training with a single process on 1 device (cpu).")
_logger.info(f"Model {args.model} created, param count:{sum(p.numel() for p in model.parameters())}")
_logger.info("Data processing configuration for current model + dataset:\n\tinput_size: (3, 16, 16)\n\tinterpolation: bicubic\n\tmean: (0.0, 0.0, 0.0)\n\tstd: (1.0, 1.0, 1.0)")
_logger.info("AMP not enabled. Training in float32.")
optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=args.momentum)
_logger.info(f"Scheduled epochs: 2. LR stepped per epoch.\nCreated SGD ({args.opt}) optimizer: lr: {args.lr}, momentum: {args.momentum}, weight_decay: 0.0")
criterion = nn.CrossEntropyLoss()
updates = 0
for epoch in range(2):
    losses, clock = AverageMeter(), AverageMeter()
    end = time.time()
    for i, rows in enumerate(torch.randperm(len(images)).split(args.batch_size)):
        loss = criterion(model(images[rows]), labels[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        updates += 1
        losses.update(loss.item(), len(rows))
        clock.update(time.time() - end)
        end = time.time()
        if i % 2 == 0 or updates < 16:
            _logger.info(
                f"Train: {epoch} [{i:>4d}/30 ({100.0 * i / 29:>3.0f}%)]  Loss: {losses.val:#.3g} ({losses.avg:#.3g})  "
                f"Time: {clock.val:.3f}s, {args.batch_size / clock.val:>7.2f}/s  ({clock.avg:.3f}s)  LR: {args.lr:.3e}"
            )
            note("loss", updates - 1, float(f"{losses.val:#.3g}"))
