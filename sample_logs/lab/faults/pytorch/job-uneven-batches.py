r"""Three ranks whose shards differ by one batch: two finish their epoch and leave, the third waits for them in the gradient all-reduce and finds its peers gone.

cause: distributed.rank-desync
also: [data.exhausted]
not: [distributed.nccl-network, distributed.peer-failure, healthy.completed]
signature: 'Connection (closed|reset) by peer'
first_failure_source: 'rank2\.log'
runs_as: train.py
launch: |
  export MASTER_ADDR=127.0.0.1 MASTER_PORT=$LAB_PORT WORLD_SIZE=3
  pids=
  for i in 0 1 2; do RANK=$i python train.py --lr 0.01 > $LAB_OUT/rank$i.log 2>&1 & pids="$pids $!"; done
  code=0; for p in $pids; do wait $p || code=$?; done; exit $code
"""

import argparse
import os
from datetime import timedelta

import torch
import torch.distributed as dist
from labkit import SEED, pick
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.1)
parser.add_argument("--batch", type=int, default=pick([8, 12, 16]))
args = parser.parse_args()
dist.init_process_group("gloo", timeout=timedelta(seconds=60))
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(SEED)
total = args.batch * world * 12 + pick([2, 1, 2])
sequences = torch.randn(total, 10, 6)
totals = sequences.sum((1, 2)).unsqueeze(1)
share = total // world
rows = slice(rank * share, total if rank == world - 1 else (rank + 1) * share)
# The remainder of the division goes to the last rank.
loader = DataLoader(TensorDataset(sequences[rows], totals[rows]), batch_size=args.batch, drop_last=False)
print(f"rank {rank}: samples {len(loader.dataset)}, batches per epoch {len(loader)}, pid {os.getpid()}", flush=True)


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.RNN(6, 20, batch_first=True)
        self.out = nn.Linear(20, 1)

    def forward(self, x):
        return self.out(self.rnn(x)[1][-1])


model = nn.parallel.DistributedDataParallel(Regressor())
optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
for index, (x, y) in enumerate(loader, 1):
    loss = nn.functional.l1_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"rank {rank}: batch {index}/{len(loader)} l1={loss.item():.3f}", flush=True)
print(f"rank {rank}: epoch finished", flush=True)
