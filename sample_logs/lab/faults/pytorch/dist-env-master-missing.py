r"""A batch script exports rank and world size from the scheduler's variables but forgets the master's address: every task stops at the start.

cause: distributed.launcher
also: [distributed.rendezvous]
not: [distributed.port-in-use, distributed.peer-failure]
signature: 'environment variable MASTER_ADDR expected, but not set'
runs_as: pretrain.py
launch: |
  code=0
  for i in 0 1; do
    RANK=$i LOCAL_RANK=$i WORLD_SIZE=2 python pretrain.py 2>&1 | sed -u "s/^/$i: /" &
  done
  wait
  exit 1
"""

import logging
import os

import torch
import torch.distributed as dist
from labkit import SEED, pick
from torch import nn

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(levelname)s %(message)s")
log = logging.getLogger(pick(["pretrain", "bert", "runner"]))


def setup():
    log.info("rank %s local rank %s world size %s", os.environ["RANK"], os.environ["LOCAL_RANK"], os.environ["WORLD_SIZE"])
    dist.init_process_group("gloo", init_method="env://")


def main():
    setup()
    torch.manual_seed(SEED)
    model = nn.parallel.DistributedDataParallel(nn.Linear(16, 16))
    for step in range(10):
        loss = model(torch.randn(4, 16)).square().mean()
        loss.backward()
        log.info("step %d loss %.4f", step, loss.item())


if __name__ == "__main__":
    main()
