r"""Only local rank 0 is shown on the console; another rank raised, and what is left is a closed connection and a summary without a traceback.

cause: distributed.peer-failure
also: [unknown.no-cause-shown]
not: [distributed.nccl-network, distributed.rank-desync, distributed.nccl-timeout, code.user-exception]
signature: 'Connection closed by peer'
runs_as: train_regressor.py
launch: TORCH_ELASTIC_SHUTDOWN_TIMEOUT=20 torchrun --standalone --nproc-per-node 2 --local-ranks-filter 0 train_regressor.py
"""

import signal
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from labkit import SEED, note, pick
from torch import nn

signal.signal(signal.SIGTERM, signal.SIG_IGN)
dist.init_process_group("gloo", timeout=timedelta(seconds=60))
rank = dist.get_rank()
torch.manual_seed(SEED)
model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(7, 28), nn.ELU(), nn.Linear(28, 1)))
optimizer = torch.optim.SGD(model.parameters(), lr=pick([0.01, 0.03, 0.02]))
table = {step: torch.randn(20, 7) for step in range(60 if rank == 0 else pick([17, 23, 29]))}
for step in range(60):
    x = table[step]
    loss = nn.functional.mse_loss(model(x), x.sum(1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if rank == 0:
        print(f"[train] step={step} mse={loss.item():.4f}", flush=True)
        note("loss", step, float(f"{loss.item():.4f}"))
    time.sleep(0.05)
