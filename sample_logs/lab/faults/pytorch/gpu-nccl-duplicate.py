"""Two ranks choose the same card: NCCL refuses to start.

cause: distributed.nccl-init
also: [distributed.device-count]
not: [distributed.nccl-network, distributed.nccl-timeout]
signature: 'Duplicate GPU detected|ncclInvalidUsage'
runs_as: train_ddp.py
needs: [gpu]
kept: []
seconds: 300
launch: torchrun --nproc-per-node 2 --master-port $LAB_PORT train_ddp.py
"""

import torch
import torch.distributed as dist
from labkit import pick, seed_everything

seed_everything()
dist.init_process_group("nccl")
torch.cuda.set_device(0)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(pick([8, 16, 32]), 4).cuda(), device_ids=[0])
print(model)
