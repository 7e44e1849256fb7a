"""DDP over gloo, a bad shard on rank 1 only: its loss is NaN one step before rank 0's.

cause: numerics.bad-batch
also: [numerics.nonfinite-unknown, numerics.hardware-corruption]
not: [numerics.lr-divergence, distributed.rank-desync, numerics.fp16-overflow]
signature: 'nan'
outcome: completed
runs_as: train.py
launch: torchrun --nproc-per-node 2 --master-port $LAB_PORT train.py
kept: []
"""
import torch
import torch.distributed as dist
from torch import nn
from labkit import pick, seed_everything

seed_everything()
dist.init_process_group("gloo")
rank = dist.get_rank()
model = nn.parallel.DistributedDataParallel(nn.Linear(16, 4))
opt = torch.optim.SGD(model.parameters(), 0.05)
for step in range(1, 61):
    x = torch.randn(32, 16)
    if rank == 1 and step == pick([34, 27, 41]):
        print("[rank1] WARNING shard_17.bin: 3 samples with non-finite features", flush=True)
        x[2:5] = float("nan")
    loss = nn.functional.cross_entropy(model(x), x[:, :4].argmax(1))
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(f"[rank{rank}] step {step} loss {loss.item():.4f}", flush=True)
    dist.barrier()
dist.destroy_process_group()
