r"""MASTER_ADDR names a host that the worker's node cannot resolve; the store's client tries again until its time-out.

cause: distributed.rendezvous
not: [distributed.port-in-use, distributed.nccl-network, io.hub-access]
signature: 'cannot be retrieved \(gai error'
first_failure: 'cannot be retrieved \(gai error'
seconds: 120
runs_as: worker.py
launch: |
  export MASTER_ADDR=head-0.training.svc.invalid MASTER_PORT=29500 WORLD_SIZE=2 RANK=1
  python worker.py
"""

import os
from datetime import timedelta

import torch
import torch.distributed as dist
from labkit import SEED, pick
from torch import nn

for name in ("MASTER_ADDR", "MASTER_PORT", "RANK", "WORLD_SIZE"):
    print(f"{name}={os.environ[name]}", flush=True)
dist.init_process_group("gloo", timeout=timedelta(seconds=pick([6, 9, 5])))
torch.manual_seed(SEED)
model = nn.parallel.DistributedDataParallel(nn.Linear(4, 4))
print("ready")
