"""torchrun starts two workers on a machine with one card; the second cannot select its device.

cause: distributed.device-count
also: []
not: [distributed.nccl-timeout, distributed.peer-failure, cuda.not-available]
signature: 'invalid device ordinal'
runs_as: pretrain.py
launch: torchrun --standalone --nproc-per-node 2 pretrain.py
needs: [gpu]
kept: []
seconds: 300
"""

import os
import torch
import torch.distributed as dist
from labkit import pick, seed_everything

seed_everything()
rank = int(os.environ["RANK"])
local_rank = int(os.environ["LOCAL_RANK"])
device = torch.device(f"cuda:{local_rank}")
print(f"[rank {rank}] host={os.uname().nodename} device={device}", flush=True)
torch.cuda.set_device(device)
dist.init_process_group("nccl", device_id=device)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(pick([8, 16, 32]), 8).to(device), device_ids=[local_rank])
