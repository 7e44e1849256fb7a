r"""Four ranks with --tee: console with [defaultN]: prefixes and one folder per rank. Validation rows are dealt out by hash; one rank got none and divides by zero.

cause: data.empty
also: [code.user-exception]
not: [distributed.peer-failure, distributed.nccl-timeout]
signature: 'ZeroDivisionError: (float )?division by zero'
first_failure_source: 'rank\d/stderr\.log'
note: 'with --tee the exception stands in the rank''s stderr.log and, with a prefix, in console.log; the source named here is the rank''s own file'
runs_as: finetune.py
launch: |
  torchrun --standalone --nproc-per-node 4 --tee 3 --log-dir tee finetune.py > console.log 2>&1
  code=$?
  for r in 0 1 2 3; do mkdir -p $LAB_OUT/rank$r && cp tee/*/attempt_0/$r/*.log $LAB_OUT/rank$r/; done
  cp console.log $LAB_OUT/
  exit $code
"""

import time
from datetime import timedelta

import torch
import torch.distributed as dist
from labkit import SEED, pick
from torch import nn

dist.init_process_group(backend="gloo", timeout=timedelta(seconds=60))
rank, world = dist.get_rank(), dist.get_world_size()
generator = torch.Generator().manual_seed(SEED)
torch.manual_seed(SEED)
users = torch.randint(0, 60, (900,), generator=generator)
items = torch.randint(0, 80, (900,), generator=generator)
ratings = ((users * 7 + items * 3) % 5).float() + 1

without = pick([2, 3, 1])
# Validation users are spread by their id modulo the world size; the held-out list happens to have none for one rank.
held_out = torch.tensor([user for user in range(60) if user % world != without][: pick([18, 12, 24])])
validation = torch.isin(users, held_out) & (users % world == rank)
training = (~torch.isin(users, held_out)).nonzero().flatten()[rank::world]
print(f"rank {rank}: {len(training)} training rows, {int(validation.sum())} validation rows", flush=True)


class Factors(nn.Module):
    def __init__(self, size=16):
        super().__init__()
        self.user, self.item = nn.Embedding(60, size), nn.Embedding(80, size)
        self.bias = nn.Parameter(torch.tensor(3.0))

    def forward(self, user, item):
        return (self.user(user) * self.item(item)).mean(-1) + self.bias


model = nn.parallel.DistributedDataParallel(Factors())
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)


def validate():
    total = 0.0
    count = 0
    with torch.no_grad():
        for row in validation.nonzero().flatten().tolist():
            total += (model.module(users[row], items[row]) - ratings[row]).pow(2).item()
            count += 1
    return (total / count) ** 0.5


for epoch in range(4):
    started = time.perf_counter()
    running = 0.0
    for rows in training[: len(training) // 8 * 8].split(8)[:12]:
        loss = nn.functional.mse_loss(model(users[rows], items[rows]), ratings[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += loss.item()
    print(f"rank {rank}: epoch {epoch} train mse {running / 12:.4f} ({time.perf_counter() - started:.2f}s)", flush=True)
    rmse = torch.tensor(validate())
    dist.all_reduce(rmse)
    if rank == 0:
        print(f"epoch {epoch}: validation rmse {rmse.item() / world:.4f}", flush=True)
