r"""torchrun is given the path of a training script that does not exist; each worker's interpreter ends with status 2.

cause: data.missing-file
also: [distributed.launcher, config.arguments]
not: [distributed.peer-failure, distributed.rendezvous, environment.missing-package]
signature: "can't open file '.*': \\[Errno 2\\] No such file or directory"
runs_as: src/train.py
launch: |
  case $LAB_SEED in
  0) torchrun --standalone --nproc-per-node 2 train.py --lr 0.1;;
  1) torchrun --standalone --nproc-per-node 2 src/train_ddp.py --lr 0.1;;
  2) cd src; torchrun --standalone --nproc-per-node 2 src/train.py --lr 0.1;;
  esac
"""

import argparse

import torch.distributed as dist

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float)
args = parser.parse_args()
dist.init_process_group("gloo")
print(dist.get_rank(), args)
