r"""A second job is started by torchrun with the same master port while the first still runs; its agent cannot open the store.

cause: distributed.port-in-use
not: [distributed.rendezvous, distributed.launcher, distributed.peer-failure]
signature: 'EADDRINUSE'
runs_as: train.py
launch: |
  torchrun --nproc-per-node 1 --master-addr 127.0.0.1 --master-port $LAB_PORT train.py --name first > first.log 2>&1 &
  until grep -q step first.log; do sleep 0.2; done
  case $LAB_SEED in
  0) torchrun --nproc-per-node 2 --master-addr 127.0.0.1 --master-port $LAB_PORT train.py --name second;;
  1) python -m torch.distributed.run --nproc-per-node 1 --master-port $LAB_PORT train.py --name second --hidden 48;;
  2) python -m torch.distributed.launch --nproc_per_node 2 --master_port $LAB_PORT train.py --name second;;
  esac
"""

import argparse
import time

import torch
import torch.distributed as dist
from labkit import pick
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--name", default="run")
parser.add_argument("--hidden", type=int, default=pick([16, 32, 64]))
args = parser.parse_args()
print(f"{args.name}: joining", flush=True)
dist.init_process_group("gloo")
model = nn.parallel.DistributedDataParallel(nn.Linear(8, args.hidden))
for step in range(600):
    model(torch.randn(4, 8)).square().mean().backward()
    print(f"{args.name}: step {step}", flush=True)
    time.sleep(0.3)
