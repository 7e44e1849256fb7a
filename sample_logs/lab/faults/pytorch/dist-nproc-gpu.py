r"""torchrun is told to start one worker per GPU on a machine where torch sees none.

cause: cuda.not-available
also: [distributed.launcher, distributed.device-count]
not: [distributed.rendezvous, config.arguments]
signature: 'ValueError: Cuda is not available'
first_failure: 'ValueError: invalid literal for int'
runs_as: train.py
launch: |
  case $LAB_SEED in
  0) torchrun --nproc-per-node gpu train.py;;
  1) python -m torch.distributed.run --standalone --nproc_per_node=gpu train.py --epochs 3;;
  2) torchrun --nnodes 1 --nproc-per-node=gpu --master-port $LAB_PORT train.py --fp16;;
  esac
"""

import os

import torch
import torch.distributed as dist

dist.init_process_group("nccl")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
print(dist.get_rank(), torch.cuda.get_device_name())
