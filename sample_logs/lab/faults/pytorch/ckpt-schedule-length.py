r"""A run with a one-cycle schedule is resumed for more epochs than the schedule in the checkpoint was made for.

cause: checkpoint.resume-mismatch
also: [code.user-exception]
not: [data.exhausted, checkpoint.corrupt, numerics.lr-divergence]
signature: 'ValueError: Tried to step \d+ times'
runs_as: train_cycle.py
launch: |
  python train_cycle.py --epochs 3
  python train_cycle.py --epochs 5 --resume cycle.pt
"""

import argparse
import pathlib

import torch
import torch.nn.functional as F
from labkit import note, pick, seed_everything
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=3)
parser.add_argument("--resume", type=pathlib.Path)
args = parser.parse_args()
seed_everything()
STEPS = pick([10, 8, 12])
model = nn.Sequential(nn.Linear(24, 48), nn.GELU(), nn.Linear(48, 24))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.5, epochs=args.epochs, steps_per_epoch=STEPS)
epoch = 0
if args.resume:
    state = torch.load(args.resume)
    for name, part in (("model", model), ("optimizer", optimizer), ("scheduler", scheduler)):
        part.load_state_dict(state[name])
    epoch = state["epoch"]
    print(f"Resumed from {args.resume}: epoch {epoch}, schedule at step {scheduler.last_epoch} of {scheduler.total_steps}")
print(f"Training epochs {epoch + 1} to {args.epochs}, {STEPS} steps each")
while epoch < args.epochs:
    epoch += 1
    for step in range(1, STEPS + 1):
        x = torch.randn(64, 24)
        loss = F.mse_loss(model(x), x.roll(1, 1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"epoch {epoch} step {step}/{STEPS} loss {loss.item():.4f} lr {scheduler.get_last_lr()[0]:.5f}")
        note("loss", None, round(loss.item(), 4))
        note("learning_rate", None, float(f"{scheduler.get_last_lr()[0]:.5f}"))
        scheduler.step()
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "scheduler": scheduler.state_dict(), "epoch": epoch}, "cycle.pt")
