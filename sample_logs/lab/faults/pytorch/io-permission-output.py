r"""The output folder belongs to somebody else and is not writable for this job.

cause: io.permission
also: []
not: [io.disk-full, data.missing-file, checkpoint.save-failed]
signature: 'PermissionError: \[Errno 13\] Permission denied'
runs_as: train.py
# Root without the right to override permissions is an ordinary user here.
launch: |
  mkdir -p runs/shared/logs && chmod 555 runs/shared runs/shared/logs
  ls -l runs | awk 'NR > 1 {print $1, $9}'
  setpriv --bounding-set -dac_override,-dac_read_search --inh-caps -dac_override,-dac_read_search python train.py --root runs/shared
needs: [root]
"""

import argparse
import csv
import os
from pathlib import Path

import torch
from labkit import note, pick, seed_everything
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--root", type=Path)
args = parser.parse_args()
seed_everything()
print(f"output root {args.root}, mode {oct(os.stat(args.root).st_mode & 0o777)}")
net = nn.Sequential(nn.Linear(11, 22), nn.Hardswish(), nn.Linear(22, 1))
optimizer = torch.optim.Rprop(net.parameters(), lr=0.01)
x = torch.randn(400, 11)
y = x.abs().sum(1, keepdim=True)
kind = pick(["folder", "csv", "late"])


def prepare():
    if kind == "folder":
        (args.root / "exp_017").mkdir(parents=True)
    elif kind == "csv":
        with open(args.root / "logs" / "metrics.csv", "w", newline="") as sink:
            csv.writer(sink).writerow(["epoch", "loss"])
    print("output prepared")


if kind != "late":
    prepare()
for epoch in range(1, 16):
    loss = nn.functional.l1_loss(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"Epoch [{epoch}/15], Loss: {loss.item():.4f}")
    note("Loss", epoch, round(loss.item(), 4))
print("training done, writing report")
(args.root / "report.txt").write_text(f"loss {loss.item()}\n")
