"""The data volume is mounted read-only; the run wants to write its cache or its best weights onto it.

cause: io.permission
also: [checkpoint.save-failed]
not: [io.disk-full, data.missing-file, io.storage]
signature: 'Read-only file system'
runs_as: main.py
launch: |
  mkdir -p volume/imagenet-mini
  unshare -m bash -c 'mount --bind volume volume && mount -o remount,ro,bind volume && grep -o "volume ro" /proc/self/mountinfo >/dev/null; exec python main.py --data volume/imagenet-mini'
needs: [tmpfs]
"""

import argparse
import os

import numpy as np
import torch
from labkit import note, pick, seed_everything
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--data")
args = parser.parse_args()
seed_everything()
print("=> data:", args.data, "| batch size:", pick([32, 16, 64]))
images = np.random.rand(256, 3 * 12 * 12).astype(np.float32)
labels = np.random.randint(0, 4, 256)
kind = pick(["weights", "cache", "temporary"])
if kind == "cache":
    print("=> caching decoded images")
    np.save(os.path.join(args.data, "images.npy"), images)
if kind == "temporary":
    print("=> staging in", args.data)
    staging = os.path.join(args.data, "stage")
    os.mkdir(staging)
model = nn.Linear(432, 4)
sgd = torch.optim.SGD(model.parameters(), 0.05)
for epoch in range(4):
    for start in range(0, 256, pick([32, 16, 64])):
        rows = slice(start, start + pick([32, 16, 64]))
        loss = nn.functional.cross_entropy(model(torch.from_numpy(images[rows])), torch.from_numpy(labels[rows]))
        sgd.zero_grad()
        loss.backward()
        sgd.step()
        print("Epoch: [{0}][{1:3d}/256]\tLoss {2:.4e}".format(epoch, start, loss.item()))
        note("loss", None, float(f"{loss.item():.4e}"))
    torch.save(model.state_dict(), os.path.join(args.data, "best.pth"))
