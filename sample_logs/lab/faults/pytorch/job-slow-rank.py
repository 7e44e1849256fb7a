r"""Three ranks train to the end; one computes its part many times slower than the others, which spend their steps waiting for it.

cause: performance.slow
also: [healthy.completed]
not: [distributed.nccl-timeout, hang.stalled, performance.input-bound]
outcome: completed
runs_as: bench_train.py
launch: |
  export MASTER_ADDR=127.0.0.1 MASTER_PORT=$LAB_PORT WORLD_SIZE=3
  pids=
  for i in 0 1 2; do RANK=$i python bench_train.py > $LAB_OUT/host$i.out 2>&1 & pids="$pids $!"; done
  code=0; for p in $pids; do wait $p || code=$?; done; exit $code
"""

import time
from datetime import timedelta

import torch
import torch.distributed as dist
from labkit import SEED, pick
from torch import nn

dist.init_process_group("gloo", timeout=timedelta(seconds=90))
rank = dist.get_rank()
torch.manual_seed(SEED)
torch.set_num_threads(1)
model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 64))
optimizer = torch.optim.SGD(model.parameters(), lr=0.3, momentum=0.8)
slow, factor = pick([(2, 0.45), (1, 0.6), (0, 0.5)])
print(f"host {rank}: {sum(p.numel() for p in model.parameters())} parameters, torch {torch.__version__}, threads {torch.get_num_threads()}", flush=True)
dist.barrier()
for step in range(1, 25):
    started = time.perf_counter()
    x = torch.randn(32, 64)
    loss = nn.functional.mse_loss(model(x), 0.1 * x.cumsum(1))
    optimizer.zero_grad()
    loss.backward()
    if rank == slow:
        # A throttled processor: the same work takes its time.
        while time.perf_counter() - started < factor:
            torch.randn(200, 200) @ torch.randn(200, 200)
    computed = time.perf_counter()
    for parameter in model.parameters():
        dist.all_reduce(parameter.grad)
        parameter.grad /= 3
    waited = time.perf_counter()
    optimizer.step()
    print(f"host={rank} step={step} loss={loss.item():.4f} compute={computed - started:.2f}s wait={waited - computed:.2f}s samples/s={32 / (waited - started):.1f}", flush=True)
print(f"host {rank}: finished", flush=True)
dist.destroy_process_group()
