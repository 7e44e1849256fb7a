r"""A data set opens each shard when it first needs it and never closes one; with a low limit for open files the run stops at a later shard.

cause: io.file-limit
also: []
not: [data.missing-file, memory.host-oom, io.permission, data.worker-crash]
signature: 'OSError: \[Errno 24\] Too many open files'
runs_as: train.py
launch: |
  ulimit -n 64
  echo "open files: $(ulimit -n)"
  python train.py
"""

import os
import struct

import torch
from labkit import note, pick, seed_everything
from torch import nn

seed_everything()
SHARDS, ROWS = pick([120, 90, 200]), 8
os.makedirs("shards", exist_ok=True)
for shard in range(SHARDS):
    with open(f"shards/{shard:05d}.bin", "wb") as sink:
        for row in torch.randn(ROWS, 9).tolist():
            sink.write(struct.pack("9f", *row))


class Shards(torch.utils.data.IterableDataset):
    def __init__(self):
        self.files = {}

    def source(self, shard):
        if shard not in self.files:
            self.files[shard] = open(f"shards/{shard:05d}.bin", "rb", buffering=0)
        return self.files[shard]

    def __iter__(self):
        for shard in range(SHARDS):
            source = self.source(shard)
            for _ in range(ROWS):
                *x, y = struct.unpack("9f", source.read(36))
                yield torch.tensor(x), torch.tensor([y])


model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=pick([1e-3, 2e-3, 5e-4]))
print(f"{SHARDS} shards of {ROWS} rows")
for step, (x, y) in enumerate(torch.utils.data.DataLoader(Shards(), batch_size=16), 1):
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step}: train loss {loss.item():.4f}")
    note("loss", step, round(loss.item(), 4))
print("epoch finished")
