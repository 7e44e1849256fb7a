r"""Layers are chosen by an environment variable that one rank reads differently: DDP's check finds another number of parameters on it.

cause: distributed.rank-desync
also: [code.shape-mismatch, distributed.launcher]
not: [distributed.peer-failure, distributed.ddp-unused-parameters, checkpoint.key-mismatch]
signature: 'RuntimeError: DDP expects same model across all ranks'
runs_as: train_stacked.py
launch: |
  export MASTER_ADDR=127.0.0.1 MASTER_PORT=$LAB_PORT WORLD_SIZE=2
  RANK=0 python train_stacked.py & first=$!
  RANK=1 LAYERS=4 python train_stacked.py & second=$!
  code=0; wait $first || code=$?; wait $second || code=$?; exit $code
"""

import logging
import os
import sys
from datetime import timedelta

import torch
import torch.distributed as dist
from labkit import SEED, pick
from torch import nn

dist.init_process_group("gloo", timeout=timedelta(seconds=60))
rank = dist.get_rank()
logging.basicConfig(stream=sys.stdout, level=logging.INFO, format=f"rank{rank} %(asctime)s %(message)s", datefmt="%H:%M:%S")
layers = int(os.environ.get("LAYERS", pick([2, 3, 6])))
torch.manual_seed(SEED)
network = nn.Sequential(*[nn.Sequential(nn.Linear(20, 20), nn.GELU()) for _ in range(layers)], nn.Linear(20, 1))
logging.info("layers=%d parameters=%d tensors=%d", layers, sum(p.numel() for p in network.parameters()), len(list(network.parameters())))
model = nn.parallel.DistributedDataParallel(network)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(20):
    x = torch.randn(8, 20)
    loss = (model(x) - x[:, :1]).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    logging.info("step %d loss %.4f", step, loss.item())
