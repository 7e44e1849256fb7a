r"""A head that was made on the meta device and never materialised is wrapped by DDP together with CPU layers.

cause: code.device-mismatch
also: [numerics.corrupt-weights, distributed.sharding]
not: [distributed.rank-desync, distributed.peer-failure, cuda.not-available]
signature: "DistributedDataParallel's input module must be on the same type of devices"
runs_as: finetune_head.py
launch: torchrun --standalone --nproc-per-node 2 finetune_head.py
"""

import logging
import sys
from datetime import timedelta

import torch
import torch.distributed as dist
from labkit import SEED, pick
from torch import nn

dist.init_process_group("gloo", timeout=timedelta(seconds=60))
rank = dist.get_rank()
logging.basicConfig(stream=sys.stdout, level=logging.INFO if rank == 0 else logging.WARNING, format="%(asctime)s %(message)s")
torch.manual_seed(SEED)


def build(classes):
    trunk = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
    with torch.device("meta"):
        head = nn.Linear(8, classes)
    return nn.Sequential(trunk, head)


model = build(pick([10, 37, 100]))
for name, parameter in model.named_parameters():
    logging.info("%-14s %-20s %s", name, tuple(parameter.shape), parameter.device)
model = nn.parallel.DistributedDataParallel(model)
logging.info("wrapped")
