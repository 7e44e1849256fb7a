r"""A penalty uses the weights of a frozen-out branch outside of the forward pass while DDP looks for unused parameters: the same parameter is marked ready as unused and by its gradient.

cause: distributed.ddp-marked-ready-twice
not: [distributed.rank-desync, distributed.peer-failure]
also: [distributed.ddp-unused-parameters]
signature: 'RuntimeError: Expected to mark a variable ready only once'
runs_as: train_sparse.py
launch: python -m torch.distributed.run --standalone --nproc-per-node 2 train_sparse.py
"""

from datetime import timedelta

import torch
import torch.distributed as dist
from labkit import SEED, pick
from torch import nn

dist.init_process_group("gloo", timeout=timedelta(seconds=60))
rank = dist.get_rank()
torch.manual_seed(SEED)


class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.experts = nn.ModuleList(nn.Linear(14, 14) for _ in range(3))
        self.out = nn.Linear(14, 2)

    def forward(self, x, chosen):
        return self.out(torch.relu(self.experts[chosen](x)))


model = nn.parallel.DistributedDataParallel(Experts(), find_unused_parameters=True)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
penalty, warm = pick([(1e-3, 4), (1e-2, 6), (5e-4, 3)])
if rank == 0:
    print(f"{len(model.module.experts)} experts, l1 penalty {penalty} after {warm} steps, find_unused_parameters=True", flush=True)
for step in range(1, 11):
    x = torch.randn(16, 14)
    logits = model(x, step % 3)
    loss = nn.functional.cross_entropy(logits, (x[:, 0] > 0).long())
    if step > warm:
        loss = loss + penalty * sum(expert.weight.abs().sum() for expert in model.module.experts)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if rank == 0:
        print(f"{step=} loss={loss.item():.4f} penalty={penalty}", flush=True)
