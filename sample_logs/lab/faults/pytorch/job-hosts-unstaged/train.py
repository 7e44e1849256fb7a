"""Classifies points on rings, data parallel."""

import argparse
import os
import socket
from datetime import timedelta

import torch
import torch.distributed as dist
from labkit import SEED, pick
from torch import nn
from torch.nn.parallel import DistributedDataParallel

parser = argparse.ArgumentParser()
parser.add_argument("--data", required=True)
parser.add_argument("--lr", type=float, default=pick([0.05, 0.02, 0.1]))
parser.add_argument("--hidden", type=int, default=pick([32, 64, 48]))
args = parser.parse_args()

dist.init_process_group("gloo", timeout=timedelta(seconds=60))
rank = dist.get_rank()
print(f"{socket.gethostname()}: rank {rank} of {dist.get_world_size()}, master {os.environ['MASTER_ADDR']}:{os.environ['MASTER_PORT']}")
print(f"{socket.gethostname()}: {args}")
torch.manual_seed(SEED)
model = DistributedDataParallel(nn.Sequential(nn.Linear(2, args.hidden), nn.ReLU(), nn.Linear(args.hidden, 3)))
optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
data = torch.load(args.data)
sampler = torch.utils.data.DistributedSampler(range(len(data["points"])), seed=SEED)
for epoch in range(3):
    sampler.set_epoch(epoch)
    for rows in torch.tensor(list(sampler)).split(50):
        loss = nn.functional.cross_entropy(model(data["points"][rows]), data["ring"][rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"{socket.gethostname()}: epoch {epoch} loss {loss.item():.4f}")
