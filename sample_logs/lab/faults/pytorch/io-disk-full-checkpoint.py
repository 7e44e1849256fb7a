r"""Checkpoints go to a small scratch disk and none is ever deleted; one of the later ones no longer fits.

cause: io.disk-full
also: [checkpoint.save-failed]
not: [checkpoint.corrupt, io.permission, memory.host-oom]
signature: '(No space left on device|file write failed|unexpected pos \d+ vs \d+)'
first_failure: '^(OSError|RuntimeError): '
runs_as: train.py
launch: |
  mkdir scratch
  unshare -m bash -c 'mount -t tmpfs -o size=2m tmpfs scratch && df -h scratch | awk "{print \$2, \$3, \$4, \$5, \$6}" && python train.py --output scratch; code=$?; ls -s scratch; exit $code'
needs: [tmpfs]
"""

import argparse
import os
import shutil

import torch
from labkit import note, pick, seed_everything
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--output", required=True)
args = parser.parse_args()
seed_everything()
width = pick([96, 150, 64])
model = nn.Sequential(nn.Linear(32, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 8))
optimizer = torch.optim.Adam(model.parameters(), lr=pick([1e-3, 3e-3, 3e-4]))
print(f"parameters: {sum(p.numel() for p in model.parameters())}, writing a checkpoint every 10 steps to {args.output}/")
for step in range(1, 301):
    x = torch.randn(64, 32)
    loss = nn.functional.mse_loss(model(x), x.view(64, 8, 4).mean(2))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(f"step {step:4d} | loss {loss.item():.5f} | free {shutil.disk_usage(args.output).free // 1024} KiB")
        note("loss", step, round(loss.item(), 5))
        torch.save({"step": step, "model": model.state_dict(), "optimizer": optimizer.state_dict()}, os.path.join(args.output, f"step{step:06d}.pt"))
