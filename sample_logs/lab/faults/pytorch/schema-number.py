"""A numeric column holds "N/A" for a sensor that failed: the conversion to float stops the run in its third file.

cause: data.schema
also: [data.decode, code.user-exception]
not: [code.dtype-mismatch, data.collation, numerics.bad-batch]
signature: 'ValueError: could not convert string to float'
runs_as: fit.py
"""

import os
import sys

import torch
from labkit import note, pick, seed_everything

HOLE = pick(["N/A", "--", "nan?"])


def record(day):
    values = torch.randn(300, 5).cumsum(0) * 0.1
    lines = [" ".join(f"{value:.4f}" for value in row) for row in values.tolist()]
    if day == pick([2, 3, 1]):
        lines[117] = " ".join([*lines[117].split()[:3], HOLE, lines[117].split()[4]])
    with open(f"sensors/day{day}.txt", "w") as sink:
        sink.write("\n".join(lines) + "\n")


def windows(path):
    rows = [[float(cell) for cell in line.split()] for line in open(path)]
    return torch.tensor(rows).unfold(0, 20, 4).transpose(1, 2)


seed_everything()
os.makedirs("sensors", exist_ok=True)
for day in range(5):
    record(day)

rnn = torch.nn.GRU(5, 24, batch_first=True)
readout = torch.nn.Linear(24, 5)
optimizer = torch.optim.RMSprop([*rnn.parameters(), *readout.parameters()], lr=2e-3)
step = 0
for day in range(5):
    batch = windows(f"sensors/day{day}.txt")
    sys.stderr.write(f"day {day}: {len(batch)} windows\n")
    for chunk in batch.split(10):
        states, _ = rnn(chunk[:, :-1])
        loss = torch.nn.functional.l1_loss(readout(states), chunk[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(rnn.parameters(), 1.0)
        optimizer.step()
        step += 1
        sys.stderr.write(f"[{step:05d}] train_loss={loss.item():.4e} lr={2e-3:.1e}\n")
        note("loss", step, float(f"{loss.item():.4e}"))
