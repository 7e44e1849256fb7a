r"""Two ranks in a memory cgroup; one keeps the features of every batch it has seen and is killed by the kernel, whose message is among the collected files.

cause: memory.host-oom
not: [distributed.peer-failure, memory.cuda-oom, scheduler.terminated, distributed.nccl-network]
signature: 'Memory cgroup out of memory: Killed process'
first_failure_source: 'dmesg\.txt'
needs: [root, cgroup]
memory_mib: 1400
runs_as: extract_and_train.py
launch: |
  torchrun --standalone --nproc-per-node 2 -r 3 --log-dir logs extract_and_train.py > agent.log 2>&1
  code=$?
  for r in 0 1; do cat logs/*/attempt_0/$r/std*.log > $LAB_OUT/rank-$r.log; done
  cp agent.log $LAB_OUT/
  pid=$(sed -n 's/.*exitcode: -9.*(pid: \([0-9]*\)).*/\1/p' agent.log | head -1)
  dmesg | grep -E "Killed process $pid |\[ *$pid\]" | tail -n 2 > $LAB_OUT/dmesg.txt
  exit $code
"""

import time
from datetime import timedelta

import psutil
import torch
import torch.distributed as dist
from labkit import SEED, pick
from torch import nn

dist.init_process_group("gloo", timeout=timedelta(seconds=60))
rank = dist.get_rank()
torch.manual_seed(SEED)
size = pick([900, 1100, 1000])
trunk = nn.Conv2d(3, 8, 3, padding=1).requires_grad_(False)
model = nn.parallel.DistributedDataParallel(nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
process = psutil.Process()
cache = []
for step in range(60):
    # The videos of one rank are long; their frames come at full size.
    side = size if rank == pick([1, 0, 1]) else 64
    maps = trunk(torch.rand(1, 3, side, side))
    cache.append(maps)
    loss = nn.functional.cross_entropy(model(maps.mean((2, 3))), torch.tensor([step % 2]))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"[{time.strftime('%X')}] rank {rank} step {step} loss {loss.item():.4f} frames {side}x{side} cached {len(cache)} rss {process.memory_info().rss / 2**20:.0f} MiB", flush=True)
dist.destroy_process_group()
