"""A run that goes on from a checkpoint with all the warnings of real life (array not writable, scheduler called before the optimizer, one non-finite batch that is left out) and ends well.

cause: healthy.completed
also: [healthy.running]
not: [numerics.nonfinite-unknown, numerics.lr-divergence, checkpoint.resume-mismatch, numerics.loss-spike, checkpoint.key-mismatch]
outcome: completed
runs_as: train_resume.py
launch: python train_resume.py --epochs 3 && python train_resume.py --epochs 8 --resume checkpoints/last.pt
note: frightening but harmless lines; only the loss of each epoch is noted.
step_basis: epoch
"""

import argparse
import logging
import os

import numpy as np
import torch
from labkit import note, pick, seed_everything
from torch import nn

logging.basicConfig(format="%(asctime)s [%(levelname)s] %(message)s", datefmt="%Y-%m-%d %H:%M:%S", level=logging.INFO)
parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=8)
parser.add_argument("--resume", default="")
args = parser.parse_args()
seed_everything()
# As from a record file: the memory belongs to somebody else.
packed = np.random.default_rng(0).normal(size=(1600, 16)).astype(np.float32).tobytes()
x = torch.from_numpy(np.frombuffer(packed, dtype=np.float32).reshape(-1, 16))
y = (x[:, 0] * 2 + x[:, 1] > 0.3).long()
bad = pick([911, 400, 1203])
weights = torch.ones(1600)
weights[bad] = float("inf")

model = nn.Sequential(nn.Linear(16, 48), nn.ReLU(), nn.Linear(48, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=pick([0.05, 0.08, 0.06]), momentum=0.9)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2, gamma=0.7)
start = 0
if args.resume:
    state = torch.load(args.resume)
    missing = model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    scheduler.load_state_dict(state["scheduler"])
    start = state["epoch"]
    logging.info("resumed from checkpoint %s (epoch %d, best loss %.4f); %s", args.resume, start, state["loss"], missing)
else:
    logging.info("no checkpoint found, training from scratch")
    scheduler.step()
os.makedirs("checkpoints", exist_ok=True)
for epoch in range(start + 1, args.epochs + 1):
    total, seen, skipped = 0.0, 0, 0
    for rows in torch.randperm(1600).split(40):
        losses = nn.functional.cross_entropy(model(x[rows]), y[rows], reduction="none")
        loss = (losses * weights[rows]).mean()
        if not torch.isfinite(loss):
            skipped += 1
            logging.warning("loss is %s, skipping this batch; sample weights of %s were not finite and are now 1", loss.item(), rows[~torch.isfinite(weights[rows])].tolist())
            weights[rows] = weights[rows].nan_to_num(1.0, 1.0)
            continue
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total, seen = total + loss.item(), seen + 1
    logging.info("epoch %d/%d loss %.4f lr %.5f skipped batches %d/40", epoch, args.epochs, total / seen, optimizer.param_groups[0]["lr"], skipped)
    note("loss", epoch, float(f"{total / seen:.4f}"))
    note("learning_rate", epoch, float(f"{optimizer.param_groups[0]['lr']:.5f}"))
    scheduler.step()
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "scheduler": scheduler.state_dict(), "epoch": epoch, "loss": total / seen}, "checkpoints/last.pt")
logging.info("done, accuracy %.4f", (model(x).argmax(1) == y).float().mean())
