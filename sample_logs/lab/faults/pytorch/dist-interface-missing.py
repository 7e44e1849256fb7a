r"""GLOO_SOCKET_IFNAME names a network interface that the machine does not have; the process group cannot open its device.

cause: distributed.nccl-network
also: [distributed.rendezvous, distributed.nccl-init]
not: [distributed.port-in-use, distributed.peer-failure]
signature: 'RuntimeError: .*Unable to find address for: '
runs_as: train_ddp.py
launch: |
  export GLOO_SOCKET_IFNAME=$([ $LAB_SEED = 1 ] && echo eno9np1 || echo ib0)
  torchrun --standalone --nproc-per-node 2 train_ddp.py
"""

import os

import torch
import torch.distributed as dist
from labkit import SEED, pick
from torch import nn

print(f"rank {os.environ['RANK']}: interface {os.environ.get('GLOO_SOCKET_IFNAME')}, hidden {pick([64, 32, 128])}", flush=True)
dist.init_process_group("gloo")
torch.manual_seed(SEED)
model = nn.parallel.DistributedDataParallel(nn.Linear(16, pick([64, 32, 128])))
for step in range(10):
    loss = model(torch.randn(4, 16)).square().mean()
    loss.backward()
    print(f"rank {os.environ['RANK']}: step {step} loss {loss.item():.4f}", flush=True)
