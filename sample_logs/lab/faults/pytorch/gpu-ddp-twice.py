"""DDP with re-entrant activation checkpointing of a shared block: its parameters are marked ready twice.

cause: distributed.ddp-marked-ready-twice
also: [config.checkpointing-conflict]
not: [distributed.ddp-unused-parameters, distributed.nccl-timeout]
signature: 'marked as ready twice|mark a variable ready only once'
runs_as: train_albert.py
launch: torchrun --nproc-per-node 2 --master-port $LAB_PORT train_albert.py
needs: [gpu]
kept: []
seconds: 300
"""

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.checkpoint import checkpoint
from labkit import pick, seed_everything

seed_everything()
dist.init_process_group("gloo")
torch.cuda.set_device(0)


class Shared(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.block, self.depth = nn.Linear(16, 64), nn.Sequential(nn.Linear(64, 64), nn.GELU()), pick([4, 6, 3])

    def forward(self, x):
        x = self.embed(x)
        for _ in range(self.depth):
            x = checkpoint(self.block, x, use_reentrant=True)
        return x.pow(2).mean()


model = nn.parallel.DistributedDataParallel(Shared().cuda(), device_ids=[0])
if dist.get_rank() == 0:
    print(model, flush=True)
for step in range(5):
    loss = model(torch.randn(8, 16, device="cuda"))
    loss.backward()
    print(f"{dist.get_rank()}: step {step} loss {loss.item():.5f}", flush=True)
