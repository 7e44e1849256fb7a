r"""A regression on tables in CSV parts: the second epoch's part was never exported, and numpy does not find the file.

cause: data.missing-file
not: [data.empty, data.decode, io.permission, code.user-exception]
quick: true
signature: 'FileNotFoundError: .*part-\d+\.csv not found'
"""

import argparse
import os

import numpy as np
import torch
from labkit import note, pick, seed_everything

parser = argparse.ArgumentParser()
parser.add_argument("--data-root", default="data/tables")
parser.add_argument("--epochs", type=int, default=4)
parser.add_argument("--batch-size", type=int, default=pick([32, 64, 16]))
parser.add_argument("--lr", type=float, default=pick([1e-2, 3e-3, 2e-2]))
args = parser.parse_args()


def export(part):
    # What the export job of the data base would have left here.
    table = np.random.randn(512, 9)
    table[:, 8] = table[:, :8] @ np.arange(8) / 8 + 0.1 * table[:, 8]
    os.makedirs(args.data_root, exist_ok=True)
    np.savetxt(f"{args.data_root}/part-{part:03d}.csv", table, delimiter=",", fmt="%.5f")


seed_everything()
for part in range(pick([1, 2, 3])):
    export(part)

print(args)
model = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1))
print(f"model has {sum(p.numel() for p in model.parameters())} parameters")
optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
step = 0
for epoch in range(args.epochs):
    table = np.loadtxt(f"{args.data_root}/part-{epoch:03d}.csv", delimiter=",", dtype=np.float32)
    print(f"epoch {epoch}: loaded {len(table)} rows")
    features, targets = torch.from_numpy(table[:, :8]), torch.from_numpy(table[:, 8:])
    for rows in torch.randperm(len(table)).split(args.batch_size):
        loss = torch.nn.functional.mse_loss(model(features[rows]), targets[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        if step % 4 == 0:
            print(f"epoch {epoch} step {step} loss {loss.item():.5f}")
            note("loss", step, float(f"{loss.item():.5f}"))
