"""A metric-learning loss takes the square root of squared distances: two equal embeddings give a root at zero, whose gradient is infinite, and anomaly mode stops at it.

cause: numerics.unstable-op
also: [numerics.nonfinite-unknown]
not: [numerics.lr-divergence, numerics.fp16-overflow, code.autograd-inplace, code.user-exception]
signature: "RuntimeError: Function '.*Backward0' returned nan values"
runs_as: train_metric.py
"""

import logging

import torch
from labkit import note, pick, seed_everything
from torch import nn

logging.basicConfig(format="%(asctime)s | %(levelname)s | %(message)s", level=logging.INFO)
seed_everything()
torch.autograd.set_detect_anomaly(True)
model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, pick([16, 8, 32])))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
faces = torch.randn(60, 40, 20) * 0.4 + torch.randn(60, 1, 20)
PHOTOS = pick([40, 25, 32])
MARGIN = pick([1.0, 0.5, 1.5])


def triplets(count):
    who = torch.randint(0, 60, (count,))
    other = (who + torch.randint(1, 60, (count,))) % 60
    first, second = torch.randint(0, PHOTOS, (count,)), torch.randint(0, PHOTOS, (count,))
    return who, first, second, other


def distance(a, b):
    return torch.sqrt(((a - b) ** 2).sum(-1))


logging.info("triplet training, margin %.1f, %d persons, anomaly detection on", MARGIN, len(faces))
for step in range(1, 61):
    who, first, second, other = triplets(4)
    anchor, positive, negative = model(faces[who, first]), model(faces[who, second]), model(faces[other, first])
    loss = torch.relu(distance(anchor, positive) - distance(anchor, negative) + MARGIN).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    logging.info("step %d loss %.4f distance %.3f..%.3f", step, loss.item(), distance(anchor, positive).min().item(), distance(anchor, negative).max().item())
    note("loss", step, float(f"{loss.item():.4f}"))
