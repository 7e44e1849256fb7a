r"""Four ranks with redirected streams; the image shard of one rank was exported at another size, so its first batch from there does not fit the linear layer. The others lose their peer in the gradient all-reduce.

cause: code.shape-mismatch
also: [data.collation]
not: [distributed.peer-failure, distributed.nccl-network, distributed.rank-desync]
signature: 'RuntimeError: mat1 and mat2 shapes cannot be multiplied'
first_failure_source: 'rank\d\.err'
runs_as: train_cifar.py
launch: |
  torchrun --standalone --nproc-per-node 4 --redirects 3 --log-dir logs train_cifar.py --epochs 2 > launcher.log 2>&1
  code=$?
  for r in 0 1 2 3; do
    cp logs/*/attempt_0/$r/stdout.log $LAB_OUT/rank$r.out
    cp logs/*/attempt_0/$r/stderr.log $LAB_OUT/rank$r.err
  done
  cp launcher.log $LAB_OUT/
  exit $code
"""

import argparse
import os
from datetime import timedelta

import torch
import torch.distributed as dist
from labkit import SEED, pick
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=1)
parser.add_argument("--batch-size", type=int, default=16)
args = parser.parse_args()

dist.init_process_group("gloo", timeout=timedelta(seconds=60))
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(SEED + rank)
print(f"[rank {rank}/{world}] host pid {os.getpid()} args {vars(args)}")

# The shard of one rank has, after some batches, images of another size (an export with other settings).
odd_rank, odd_from, odd_size = pick([(2, 5, 28), (1, 3, 36), (3, 7, 24)])


class Shard(torch.utils.data.Dataset):
    def __len__(self):
        return 192

    def __getitem__(self, index):
        side = odd_size if rank == odd_rank and index // args.batch_size >= odd_from else 32
        return torch.randn(3, side, side), index % 10


model = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(4), nn.Flatten(), nn.Linear(8 * 8 * 8, 10))
ddp = DDP(model)
optimizer = torch.optim.SGD(ddp.parameters(), lr=0.05, momentum=0.9)
loader = torch.utils.data.DataLoader(Shard(), batch_size=args.batch_size)
for epoch in range(args.epochs):
    for step, (images, labels) in enumerate(loader):
        loss = nn.functional.cross_entropy(ddp(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"[rank {rank}/{world}] epoch {epoch} step {step:3d}/{len(loader)} loss {loss.item():.4f}")
dist.destroy_process_group()
