"""A checkpoint's copy stopped short; on resuming torch.load finds no end of the zip archive.

cause: checkpoint.corrupt
quick: true
also: []
not: [data.missing-file, checkpoint.key-mismatch, io.disk-full, checkpoint.unsafe-load]
signature: 'RuntimeError: PytorchStreamReader failed'
runs_as: train.py
launch: |
  python train.py --epochs 2 --save ckpt.pt > first.log
  size=$(stat -c %s ckpt.pt)
  head -c $((size * (LAB_SEED == 0 ? 60 : LAB_SEED == 1 ? 93 : 25) / 100)) ckpt.pt > node2.pt
  echo "+ python train.py --epochs 6 --resume node2.pt"
  python train.py --epochs 6 --resume node2.pt
"""

import argparse
import os

import torch
from labkit import pick, seed_everything
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int)
parser.add_argument("--save", default="last.pt")
parser.add_argument("--resume")
args = parser.parse_args()
seed_everything()
model = nn.Sequential(nn.Linear(60, pick([1024, 1536, 2048])), nn.ReLU(), nn.Linear(pick([1024, 1536, 2048]), 60))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
start = 0
print(f"==> model with {sum(p.numel() for p in model.parameters())} parameters")
if args.resume:
    print(f"==> resuming from {args.resume} ({os.path.getsize(args.resume)} bytes)")
    state = torch.load(args.resume, map_location="cpu")
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    start = state["epoch"]
    print(f"==> loaded checkpoint (epoch {start})")
for epoch in range(start, args.epochs):
    x = torch.randn(256, 60)
    loss = nn.functional.mse_loss(model(x), x.flip(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"Epoch {epoch}: loss {loss.item():.4f}")
torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": args.epochs}, args.save)
