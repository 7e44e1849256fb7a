"""One loader worker parses text features with Python loops for a tiny model: "Data" takes nearly the whole "Time" of each iteration.

cause: performance.input-bound
also: [healthy.completed, healthy.running]
not: [hang.stalled, performance.slow, data.worker-crash]
outcome: completed
runs_as: main.py
"""

import time

import torch
from labkit import note, pick, seed_everything
from torch.utils.data import DataLoader, Dataset

FEATURES = pick([4000, 3000, 5000])


class Lines(Dataset):
    def __init__(self, count):
        values = torch.randn(64, FEATURES)
        self.lines = [" ".join(f"{number}:{value:.4f}" for number, value in enumerate(row)) for row in values.tolist()]
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        row = torch.zeros(FEATURES)
        for cell in self.lines[index % 64].split():
            number, value = cell.split(":")
            row[int(number)] = float(value)
        return row, index % 2


class Meter:
    def __init__(self, name, fmt):
        self.name, self.fmt, self.total, self.n, self.val = name, fmt, 0.0, 0, 0.0

    def update(self, val):
        self.val, self.total, self.n = val, self.total + val, self.n + 1

    def __str__(self):
        return f"{self.name} {self.val:{self.fmt}} ({self.total / self.n:{self.fmt}})"


def train(loader, model, optimizer, epoch):
    meters = [Meter("Time", "6.3f"), Meter("Data", "6.3f"), Meter("Loss", ".4e")]
    end = time.time()
    for i, (rows, target) in enumerate(loader):
        meters[1].update(time.time() - end)
        loss = torch.nn.functional.cross_entropy(model(rows), target)
        meters[2].update(loss.item())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        meters[0].update(time.time() - end)
        end = time.time()
        if i % 4 == 0:
            print("\t".join([f"Epoch: [{epoch}][{i:3d}/{len(loader)}]", *map(str, meters)]))
            note("loss", epoch * len(loader) + i, float(f"{loss.item():.4e}"))


seed_everything()
model = torch.nn.Linear(FEATURES, 2)
optimizer = torch.optim.SGD(model.parameters(), 1e-3)
for epoch in range(2):
    train(DataLoader(Lines(800), batch_size=pick([8, 10, 8]), num_workers=1), model, optimizer, epoch)
