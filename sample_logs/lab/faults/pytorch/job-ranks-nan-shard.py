r"""Four plain rank logs without a launcher's log: the features of one rank's shard hold an infinite value from some row on; its own loss is NaN one step before that of all others (gradients are averaged).

cause: numerics.bad-batch
also: [numerics.nonfinite-unknown]
not: [numerics.lr-divergence, numerics.fp16-overflow, numerics.hardware-corruption, distributed.peer-failure]
signature: 'loss=nan.*x_absmax=inf'
first_failure_source: 'rank_\d\.log'
runs_as: train_mlp.py
launch: |
  export MASTER_ADDR=127.0.0.1 MASTER_PORT=$LAB_PORT WORLD_SIZE=4
  for i in 0 1 2 3; do RANK=$i python train_mlp.py > $LAB_OUT/rank_$i.log 2>&1 & done
  wait
"""

import logging
import sys
from datetime import timedelta

import torch
import torch.distributed as dist
from labkit import SEED, pick
from torch import nn

dist.init_process_group("gloo", timeout=timedelta(seconds=60))
rank, world = dist.get_rank(), dist.get_world_size()
logging.basicConfig(stream=sys.stdout, format="[%(asctime)s][%(levelname).1s] %(message)s", level=logging.INFO, datefmt="%H:%M:%S")
log = logging.getLogger()
torch.manual_seed(SEED + 17 * rank)
features = torch.randn(640, 24)
targets = features[:, :6].sum(1, keepdim=True) * 0.5
where, column, row = pick([(2, 5, 310), (1, 11, 420), (3, 0, 205)])
if rank == where:
    features[row, column] = float("inf")
log.info("rank=%d world=%d rows=%d features=%d batch=%d lr=%g", rank, world, len(features), features.shape[1], 16, 0.02)
torch.manual_seed(SEED)
model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(24, 48), nn.GELU(), nn.Linear(48, 1)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
for step, (x, y) in enumerate(zip(features.split(16), targets.split(16), strict=True), 1):
    loss = nn.functional.huber_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    log.info("step=%d local_loss=%.5f x_absmax=%.3f y_absmax=%.3f", step, loss.item(), x.abs().max().item(), y.abs().max().item())
log.info("finished rank %d", rank)
dist.destroy_process_group()
