r"""Three ranks; one still builds its data index when the monitored barrier of rank 0 runs out of patience and names it.

cause: distributed.nccl-timeout
also: [performance.slow, distributed.rank-desync, distributed.rendezvous]
not: [distributed.nccl-network, distributed.peer-failure, code.user-exception]
signature: 'failed to pass monitoredBarrier'
first_failure_source: 'rank0\.log'
seconds: 150
runs_as: train_retrieval.py
launch: |
  export MASTER_ADDR=127.0.0.1 MASTER_PORT=$LAB_PORT WORLD_SIZE=3
  pids=
  for i in 0 1 2; do RANK=$i timeout 90 python train_retrieval.py > $LAB_OUT/rank$i.log 2>&1 & pids="$pids $!"; done
  set -- $pids
  wait $1; code=$?
  sleep 2; kill -TERM $2 $3
  wait
  exit $code
"""

import logging
import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from labkit import SEED, pick
from torch import nn

rank = int(os.environ["RANK"])
logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(asctime)s,rank=" + str(rank) + ",%(message)s", datefmt="%Y-%m-%dT%H:%M:%S")
dist.init_process_group("gloo", timeout=timedelta(seconds=120))
torch.manual_seed(SEED + rank)
logging.info("process group ready, world=%d", dist.get_world_size())
nn.Linear(2, 2)
dist.barrier()
large = rank == pick([2, 1, 2])
blocks = 400 if large else 12
started = time.time()
logging.info("building index of %d blocks", blocks)
vectors = []
for block in range(blocks):
    vectors.append(nn.functional.normalize(torch.randn(300, 32), dim=1))
    time.sleep(0.12)
    if block % 12 == 11:
        logging.info("index %d/%d blocks, %.1fs", block + 1, blocks, time.time() - started)
dist.monitored_barrier(timeout=timedelta(seconds=pick([10, 12, 8])))
logging.info("index ready, %d vectors", 300 * len(vectors))
model = nn.parallel.DistributedDataParallel(nn.Linear(32, 32))
logging.info("training starts")
