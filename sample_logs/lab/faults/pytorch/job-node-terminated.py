r"""Two nodes; the agent of node 1 gets SIGTERM from outside and stops its worker, node 0 then loses its peer. No line says who sent the signal.

cause: scheduler.terminated
also: [scheduler.preempted, scheduler.cancelled]
not: [distributed.nccl-network, distributed.peer-failure, distributed.rendezvous, scheduler.time-limit]
signature: 'SignalException: Process \d+ got signal: 15'
first_failure: 'Received Signals\.SIGTERM|Received 15 death signal'
first_failure_source: 'worker-1\.log'
runs_as: train_forecast.py
launch: |
  pids=
  for n in 0 1; do
    torchrun --nnodes 2 --node-rank $n --nproc-per-node 2 --master-addr 127.0.0.1 --master-port $LAB_PORT train_forecast.py > $LAB_OUT/worker-$n.log 2>&1 & pids="$pids $!"
  done
  set -- $pids
  until grep -qs 'step 15 ' $LAB_OUT/worker-0.log; do sleep 0.1; done
  kill -TERM $2
  code=0; for p in $pids; do wait $p || code=$?; done; exit $code
"""

import time
from datetime import timedelta

import torch
import torch.distributed as dist
from labkit import SEED, pick
from torch import nn

dist.init_process_group("gloo", timeout=timedelta(seconds=60))
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(SEED)
horizon = pick([4, 8, 6])
model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(48, 64), nn.ELU(), nn.Linear(64, horizon)))
optimizer = torch.optim.AdamW(model.parameters(), lr=pick([2e-3, 1e-3, 4e-3]))
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 200)
if rank == 0:
    print(f"forecasting {horizon} hours from 48, {world} processes", flush=True)
for step in range(1, 201):
    phase = torch.rand(32, 1) * 6.2832
    load = torch.sin(torch.arange(48 + horizon) / 24 * 6.2832 + phase) + 0.1 * torch.randn(32, 48 + horizon)
    loss = nn.functional.smooth_l1_loss(model(load[:, :48]), load[:, 48:])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    schedule.step()
    if rank == 0:
        print(f"step {step} loss={loss.item():.4f} lr={schedule.get_last_lr()[0]:.2e}", flush=True)
    time.sleep(0.2)
