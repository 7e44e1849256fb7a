r"""torchrun's agent gets SIGTERM in the middle of the run and closes its workers; no line says who stopped it.

cause: scheduler.terminated
also: [scheduler.preempted, scheduler.cancelled]
not: [scheduler.time-limit, distributed.peer-failure, memory.host-oom, code.user-exception]
signature: 'got signal: 15'
first_failure: 'Received 15 death signal|got signal: 15'
runs_as: train_dae.py
launch: |
  torchrun --standalone --nproc-per-node 2 train_dae.py & agent=$!
  until [ -e reached ]; do sleep 0.1; done
  sleep 1
  kill -TERM $agent
  wait $agent
"""

import time
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist
from labkit import SEED, pick
from torch import nn

dist.init_process_group("gloo", timeout=timedelta(seconds=60))
rank = dist.get_rank()
torch.manual_seed(SEED)
noise = pick([0.1, 0.3, 0.2])
model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(50, 10), nn.ReLU(), nn.Linear(10, 50)))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(1, 2001):
    clean = torch.randn(16, 5).repeat(1, 10)
    loss = nn.functional.mse_loss(model(clean + noise * torch.randn_like(clean)), clean)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if rank == 0 and step % 5 == 0:
        print(f"Step {step}/2000 | Loss: {loss.item():.4f} | noise {noise}", flush=True)
    if rank == 0 and step == pick([40, 60, 50]):
        Path("reached").touch()
    time.sleep(0.05)
