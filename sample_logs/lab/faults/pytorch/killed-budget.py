"""The command runs under `timeout` in a traced job script, and nothing handles the signal: exit status 124 tells of the limit.

cause: scheduler.time-limit
also: [scheduler.terminated]
not: [hang.stalled, memory.host-oom, healthy.completed, config.arguments]
signature: '(status|rc|code)[ =:]+124'
first_failure: '(status|rc|code)[ =:]+124'
runs_as: main.py
launch: |
  set -x
  hostname > /dev/null
  timeout 32s python main.py --arch small --epochs 300
  rc=$?
  : main.py ended with status=$rc
  exit $rc
"""

import argparse
import time

import torch
from labkit import pick, seed_everything
from torch import nn, optim

parser = argparse.ArgumentParser()
parser.add_argument("--arch", default="small")
parser.add_argument("--epochs", type=int, default=90)
args = parser.parse_args()
seed_everything()
print(f"=> creating model '{args.arch}'")
x = torch.rand(512, 1, 14, 14)
y = (x.mean((1, 2, 3)) * pick([400, 300, 500])).long() % 4
model = nn.Sequential(nn.Conv2d(1, 16, 3), nn.ReLU(), nn.Flatten(), nn.Linear(2304, 4))
optimizer = optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
best = 0.0
for epoch in range(args.epochs):
    begin = time.time()
    correct = 0
    for xb, yb in zip(x.split(32), y.split(32)):
        out = model(xb)
        loss = nn.functional.cross_entropy(out, yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        correct += (out.argmax(1) == yb).sum().item()
        time.sleep(0.05)
    best = max(best, correct / 512)
    print(f"Epoch {epoch + 1}/{args.epochs}  loss={loss.item():.4f}  acc={correct / 512:.4f}  best={best:.4f}  eta={(time.time() - begin) * (args.epochs - epoch - 1):.0f}s")
