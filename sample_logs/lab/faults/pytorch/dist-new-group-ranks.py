r"""The pipeline layout written for eight processes makes groups of ranks that a job of two does not have.

cause: distributed.device-count
also: [distributed.launcher, config.arguments]
not: [distributed.rendezvous, distributed.rank-desync, code.shape-mismatch]
signature: "ValueError: the new group's (world size|rank) should be"
runs_as: train_pipeline.py
launch: torchrun --nproc-per-node 2 --master-port $LAB_PORT train_pipeline.py
"""

import logging
import sys
from datetime import timedelta

import torch
import torch.distributed as dist
from labkit import SEED, pick

dist.init_process_group("gloo", timeout=timedelta(seconds=60))
rank, world = dist.get_rank(), dist.get_world_size()
logging.basicConfig(stream=sys.stdout, level=logging.INFO, format=f"[%(asctime)s] [rank {rank}] %(message)s")
torch.manual_seed(SEED)
stages, replicas = pick([(4, 2), (2, 2), (2, 4)])
logging.info("pipeline of %d stages, %d replicas, %d processes", stages, replicas, world)
layout = torch.arange(stages * replicas).reshape(replicas, stages)
pipelines = [dist.new_group(row.tolist()) for row in layout]
stages_across = [dist.new_group(column.tolist()) for column in layout.T]
logging.info("groups ready")
