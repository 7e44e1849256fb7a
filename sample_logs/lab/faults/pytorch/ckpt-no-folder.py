"""The folder for the checkpoint was never made (or the target is one): the first save at the end of an epoch fails.

cause: checkpoint.save-failed
also: [data.missing-file, code.user-exception]
not: [io.permission, io.disk-full, checkpoint.corrupt]
signature: 'RuntimeError: (Parent directory .* does not exist|File .* cannot be opened|.*open file failed)'
runs_as: main.py
launch: |
  mkdir -p results/last.pt
  python main.py --out results
"""

import argparse
import time

import torch
from labkit import note, pick, seed_everything
from torch import nn

p = argparse.ArgumentParser()
p.add_argument("--out", default="results")
p = p.parse_args()
seed_everything()
TARGET = pick(["ckpts/epoch_{:02d}.pt", "last.pt", "models/best.pth"])
net = nn.Sequential(nn.Conv1d(2, 8, 5), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 28, 1))
adam = torch.optim.Adam(net.parameters(), 2e-3)
batches = pick([12, 20, 15])
for epoch in range(1, 6):
    began, total = time.time(), 0.0
    for batch in range(batches):
        x = torch.randn(16, 2, 32)
        loss = nn.functional.mse_loss(net(x), x.mean((1, 2)).unsqueeze(1))
        adam.zero_grad()
        loss.backward()
        adam.step()
        total += loss.item()
        print(f"| epoch {epoch:3d} | {batch + 1:3d}/{batches} batches | ms/batch {(time.time() - began) * 1000 / (batch + 1):5.2f} | loss {loss.item():8.5f}")
        note("loss", None, round(loss.item(), 5))
    print("-" * 60)
    print(f"| end of epoch {epoch} | mean loss {total / batches:.5f}")
    torch.save({"net": net.state_dict(), "adam": adam.state_dict()}, f"{p.out}/{TARGET}".format(epoch))
    print("-" * 60)
