r"""Three ranks writing their own logs; one waits for a file lock that nobody gives back, the others wait in the all-reduce. Each process dumps its stack by faulthandler once; the job is still there when its time is up.

cause: hang.stalled
also: [distributed.rank-desync, distributed.nccl-timeout]
not: [healthy.running, performance.slow, distributed.rendezvous]
ends: time limit
seconds: 75
outcome: stalled
runs_as: train_ranker.py
launch: |
  export MASTER_ADDR=127.0.0.1 MASTER_PORT=$LAB_PORT WORLD_SIZE=3
  flock cache.lock sleep 300 &
  for i in 0 1 2; do RANK=$i python train_ranker.py > $LAB_OUT/rank_$i.log 2>&1 & done
  wait
"""

import faulthandler
import fcntl
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from labkit import SEED, pick
from torch import nn

dist.init_process_group("gloo", timeout=timedelta(minutes=30))
rank = dist.get_rank()
torch.manual_seed(SEED)
model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(18, 32), nn.Tanh(), nn.Linear(32, 1)))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
print(f"{time.strftime('%H:%M:%S')} rank {rank} started, watchdog 12 s", flush=True)


def read_cached(step):
    with open("cache.lock", "a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return torch.randn(10, 18) + step


refresh = pick([(1, 14), (2, 9), (1, 20)])
for step in range(1, 41):
    faulthandler.dump_traceback_later(12)
    features = read_cached(step) if (rank, step) == refresh else torch.randn(10, 18)
    scores = model(features).squeeze(1)
    better = features[:, 0].unsqueeze(0) < features[:, 0].unsqueeze(1)
    loss = nn.functional.softplus(-(scores.unsqueeze(1) - scores.unsqueeze(0)))[better].mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{time.strftime('%H:%M:%S')} rank {rank} step {step} pairwise loss {loss.item():.4f}", flush=True)
    time.sleep(0.1)
faulthandler.cancel_dump_traceback_later()
