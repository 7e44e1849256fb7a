r"""A data-parallel run that goes on to its end but takes ever longer per step: every step averages over all earlier weights.

cause: performance.slow
also: [healthy.completed]
not: [performance.input-bound, hang.stalled, distributed.nccl-timeout]
outcome: completed
runs_as: train_swa.py
launch: torchrun --standalone --nproc-per-node 2 train_swa.py
"""

import time
from datetime import timedelta

import torch
import torch.distributed as dist
from labkit import SEED, note, pick
from torch import nn

dist.init_process_group("gloo", timeout=timedelta(seconds=90))
rank = dist.get_rank()
torch.manual_seed(SEED)
network = nn.Sequential(nn.Linear(120, pick([240, 200, 220])), nn.ReLU(), nn.Linear(pick([240, 200, 220]), 120))
optimizer = torch.optim.SGD(network.parameters(), lr=0.3, momentum=0.8)
model = nn.parallel.DistributedDataParallel(network)
history = []
before = time.perf_counter()
for step in range(1, 241):
    x = torch.randn(16, 120)
    loss = nn.functional.mse_loss(model(x), 0.1 * x.cumsum(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(torch.cat([parameter.detach().flatten() for parameter in network.parameters()]))
    average = torch.stack(history).mean(0)
    distance = (average - history[-1]).norm()
    if step % 10 == 0 and rank == 0:
        now = time.perf_counter()
        print(f"step {step}/240 loss {loss.item():.4f} avg_dist {distance.item():.3f} data 0.00s step {(now - before) / 10:.3f}s", flush=True)
        note("loss", step, float(f"{loss.item():.4f}"))
        before = now
if rank == 0:
    print("finished", flush=True)
dist.destroy_process_group()
