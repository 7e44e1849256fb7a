r"""The backend is nccl, the installed torch a CPU build: no process group can be made.

cause: cuda.not-available
also: [distributed.nccl-init]
not: [distributed.rendezvous, distributed.peer-failure, distributed.nccl-network]
signature: "RuntimeError: Distributed package doesn't have NCCL built in"
runs_as: train_gpu.py
launch: torchrun --standalone --nproc-per-node 2 train_gpu.py
"""

import os

import torch
import torch.distributed as dist
from labkit import SEED, pick
from torch import nn

torch.manual_seed(SEED)
if os.environ["LOCAL_RANK"] == "0":
    print(f"PyTorch {torch.__version__} | CUDA {torch.version.cuda} | devices {torch.cuda.device_count()} | hidden {pick([256, 512, 384])}", flush=True)
dist.init_process_group("nccl")
device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
model = nn.parallel.DistributedDataParallel(nn.Linear(32, pick([256, 512, 384])).to(device))
