"""Bytes in the middle of a checkpoint were overwritten (a bad disk or a bad copy); the archive's directory is whole, one of its records is not.

cause: checkpoint.corrupt
also: []
not: [data.missing-file, checkpoint.key-mismatch, checkpoint.unsafe-load]
signature: 'RuntimeError: PytorchStreamReader failed'
runs_as: evaluate.py
launch: |
  python evaluate.py --make weights/resnet_mini.pth
  python - << 'END'
  import os
  seed = int(os.environ["LAB_SEED"])
  data = bytearray(open("weights/resnet_mini.pth", "rb").read())
  if seed == 2:
      at = data.find(b"PK" + bytes([1, 2]))
      data[at:at + 4] = bytes(4)
  else:
      at = data.find(b"PK" + bytes([3, 4]), len(data) // (2 + seed))
      data[at:at + 16] = bytes(16)
  open("weights/resnet_mini.pth", "wb").write(data)
  END
  python evaluate.py --weights weights/resnet_mini.pth
"""

import argparse
import logging
import pathlib

import torch
from labkit import pick, seed_everything
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--make", type=pathlib.Path)
parser.add_argument("--weights", type=pathlib.Path)
args = parser.parse_args()
seed_everything()
net = nn.Sequential(*[nn.Sequential(nn.Conv2d(8 if i else 3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU()) for i in range(pick([4, 6, 3]))], nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 10))
if args.make:
    args.make.parent.mkdir()
    torch.save(net.state_dict(), args.make)
    raise SystemExit
logging.basicConfig(level=logging.INFO, format="%(levelname).1s %(asctime)s %(message)s", datefmt="%H:%M:%S")
logging.info("weights: %s, %d bytes", args.weights, args.weights.stat().st_size)
net.load_state_dict(torch.load(args.weights, weights_only=True))
net.eval()
logging.info("weights loaded")
hits = 0
for batch in range(10):
    x = torch.rand(16, 3, 16, 16)
    with torch.no_grad():
        hits += int((net(x).argmax(1) == 3).sum())
    logging.info("batch %d hits %d", batch, hits)
