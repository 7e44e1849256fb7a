r"""The old launcher passes --local-rank to every worker, the script's parser knows --local_rank only.

cause: config.arguments
also: [distributed.launcher]
not: [distributed.peer-failure, distributed.rendezvous]
signature: 'error: unrecognized arguments: --local-rank'
runs_as: tools/train.py
launch: python -m torch.distributed.launch --nproc_per_node 2 --master_port $LAB_PORT tools/train.py --config configs/base.yaml
"""

import argparse
import os

import torch
import torch.distributed as dist
from labkit import SEED, pick

parser = argparse.ArgumentParser(description="Train a segmentation model")
parser.add_argument("--config", required=True)
parser.add_argument("--local_rank", type=int, default=0)
parser.add_argument("--amp", action="store_true")
parser.add_argument("--workers", type=int, default=pick([4, 8, 2]))
if pick([False, True, False]):
    parser.add_argument("--resume", default="")
args = parser.parse_args()
os.environ.setdefault("LOCAL_RANK", str(args.local_rank))
dist.init_process_group("gloo")
torch.manual_seed(SEED)
print(args)
