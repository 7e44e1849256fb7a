r"""Of four expected processes three are started; they wait for the last one in the process group's set-up until the job's time is up.

cause: hang.startup
also: [distributed.rendezvous]
not: [healthy.running, hang.stalled, distributed.port-in-use]
ends: time limit
seconds: 40
outcome: stalled
runs_as: train_t5ish.py
launch: |
  export MASTER_ADDR=127.0.0.1 MASTER_PORT=$LAB_PORT WORLD_SIZE=4
  for i in 0 1 2; do RANK=$i python train_t5ish.py & done
  wait
"""

import logging
import os
import sys

import torch.distributed as dist
from labkit import SEED, pick
from torch import nn

logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(asctime)s - %(levelname)s - %(message)s")
rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
logging.info("process %d/%d (pid %d) starting, seed %d", rank, world, os.getpid(), SEED)
logging.info("process %d/%d: %s", rank, world, {"d_model": pick([64, 128, 96]), "layers": 2, "dropout": 0.1, "lr": 1e-4})
logging.info("process %d/%d: initialising process group (gloo) at %s:%s", rank, world, os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"])
dist.init_process_group("gloo")
logging.info("process %d/%d: process group ready", rank, world)
model = nn.parallel.DistributedDataParallel(nn.Transformer(pick([64, 128, 96]), 2, 2, 2))
