r"""Rank 0 broadcasts new weights of its running average at a step where the other rank reduces its loss; with TORCH_DISTRIBUTED_DEBUG=DETAIL the mismatch is named. Only local rank 0 is shown on the console.

cause: distributed.rank-desync
not: [distributed.nccl-timeout, distributed.nccl-network, code.shape-mismatch]
signature: 'RuntimeError: Detected mismatch between collectives on ranks'
variables: {TORCH_DISTRIBUTED_DEBUG: DETAIL}
runs_as: train_ema.py
launch: torchrun --standalone --nproc-per-node 2 --redirects 1:3 --log-dir logs train_ema.py
"""

from datetime import timedelta

import torch
import torch.distributed as dist
from labkit import SEED, note, pick
from torch import nn

dist.init_process_group("gloo", timeout=timedelta(seconds=60))
rank = dist.get_rank()
torch.manual_seed(SEED)
network = nn.Sequential(nn.Linear(10, 30), nn.Softplus(), nn.Linear(30, 1))
average = [parameter.detach().clone() for parameter in network.parameters()]
optimizer = torch.optim.SGD(network.parameters(), lr=0.01)
every = pick([8, 6, 10])
print(f"ema decay 0.99, refreshed every {every} steps, world size {dist.get_world_size()}", flush=True)
for step in range(1, 31):
    x = torch.randn(24, 10)
    loss = (network(x) - x.square().sum(1, keepdim=True) / 10).square().mean()
    optimizer.zero_grad()
    loss.backward()
    for parameter in network.parameters():
        dist.all_reduce(parameter.grad)
        parameter.grad /= 2
    optimizer.step()
    for mean, parameter in zip(average, network.parameters(), strict=True):
        mean.lerp_(parameter.detach(), 0.01)
    if rank == 0 and step % every == 0:
        for mean in average:
            dist.broadcast(mean, src=0)
    shown = loss.detach().clone()
    dist.all_reduce(shown)
    print(f"step {step} | loss {shown.item() / 2:.5f}", flush=True)
    if rank == 0:
        note("loss", step, float(f"{shown.item() / 2:.5f}"))
