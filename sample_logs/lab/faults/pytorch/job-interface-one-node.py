r"""Three nodes; the environment of the last names a network interface that only the others have, its worker ends and the others wait for its address.

cause: distributed.nccl-network
also: [distributed.nccl-init]
not: [distributed.peer-failure, distributed.port-in-use, distributed.nccl-timeout]
signature: 'RuntimeError: .*Unable to find address for: '
first_failure_source: 'n3\.txt'
runs_as: train.py
launch: |
  pids=
  for n in 0 1 2; do
    GLOO_SOCKET_IFNAME=$([ $n = 2 ] && echo bond0 || echo lo) torchrun --nnodes 3 --node-rank $n --nproc-per-node 1 --master-addr 127.0.0.1 --master-port $LAB_PORT train.py > $LAB_OUT/n$((n+1)).txt 2>&1 & pids="$pids $!"
  done
  code=0; for p in $pids; do wait $p || code=$?; done; exit $code
"""

import logging
import os
import sys
from datetime import timedelta

import torch
import torch.distributed as dist
from labkit import SEED, pick
from torch import nn

logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(asctime)s node" + os.environ["GROUP_RANK"] + " %(levelname)s %(message)s")
logging.info("rank %s/%s GLOO_SOCKET_IFNAME=%s", os.environ["RANK"], os.environ["WORLD_SIZE"], os.environ["GLOO_SOCKET_IFNAME"])
dist.init_process_group("gloo", timeout=timedelta(seconds=pick([15, 18, 12])))
logging.info("process group ready")
torch.manual_seed(SEED)
model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(10, 20), nn.ReLU(), nn.Linear(20, 1)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(20):
    x = torch.randn(8, 10)
    loss = (model(x) - x[:, :1]).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    logging.info("step %d loss %.4f", step, loss.item())
