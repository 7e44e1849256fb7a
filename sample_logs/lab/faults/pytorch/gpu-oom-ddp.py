"""One NCCL rank, its log lines prefixed; the backward of the third step has no room.

cause: memory.cuda-oom
also: []
not: [memory.cuda-fragmentation, memory.gpu-shared, distributed.peer-failure]
signature: 'CUDA out of memory'
runs_as: train_ddp.py
launch: torchrun --nproc-per-node 1 --master-port $LAB_PORT --tee 3 train_ddp.py
needs: [gpu]
kept: []
seconds: 300
"""

import torch
import torch.distributed as dist
from torch import nn
from labkit import pick, seed_everything

seed_everything()
dist.init_process_group("nccl")
torch.cuda.set_device(0)
model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(1024, 16384), nn.GELU(), nn.Linear(16384, 1024)).cuda(), device_ids=[0], static_graph=True)
opt = torch.optim.AdamW(model.parameters(), 1e-4)
print(f"world size {dist.get_world_size()}, {torch.cuda.get_device_name()}", flush=True)
for step, rows in enumerate([65536, 131072, pick([900000, 1000000, 950000])]):
    x = torch.randn(rows, 1024, device="cuda")
    loss = (model(x) - x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(f"step={step} micro_batch={rows} loss={loss.item():.4f} max_mem={torch.cuda.max_memory_allocated() / 1e9:.1f}GB", flush=True)
