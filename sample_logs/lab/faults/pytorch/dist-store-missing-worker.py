r"""Started by hand with WORLD_SIZE=3 but only two of the processes exist; rank 0's store waits for the third until its time-out.

cause: distributed.rendezvous
also: [distributed.launcher]
not: [distributed.port-in-use, distributed.nccl-timeout, hang.startup]
signature: 'DistStoreError: Timed out after \d+ seconds waiting for clients'
runs_as: train_wdl.py
launch: |
  export MASTER_ADDR=127.0.0.1 MASTER_PORT=$LAB_PORT WORLD_SIZE=3
  RANK=1 python train_wdl.py > rank1.log 2>&1 &
  RANK=0 python train_wdl.py
"""

import logging
import os
from datetime import timedelta

import torch
import torch.distributed as dist
from labkit import SEED, pick
from torch import nn

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)-8s %(message)s")
patience = pick([9, 12, 7])
logging.info("rank %s of %s: connecting to %s:%s, timeout %d s", os.environ["RANK"], os.environ["WORLD_SIZE"], os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"], patience)
dist.init_process_group("gloo", timeout=timedelta(seconds=patience))
logging.info("connected")
torch.manual_seed(SEED)
wide, deep = nn.Linear(40, 1), nn.Sequential(nn.EmbeddingBag(100, 8), nn.ReLU(), nn.Linear(8, 1))
model = nn.parallel.DistributedDataParallel(nn.ModuleList([wide, deep]))
logging.info("model ready")
