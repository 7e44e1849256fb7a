r"""Two ranks print to one stream, some lines torn, and train to the end.

cause: healthy.completed
also: [healthy.running]
not: [distributed.peer-failure, distributed.rank-desync, learning.plateau]
outcome: completed
runs_as: train_xor.py
launch: torchrun --standalone --nproc-per-node 2 train_xor.py
"""

from datetime import timedelta

import torch
import torch.distributed as dist
from labkit import SEED, pick
from torch import nn

dist.init_process_group("gloo", timeout=timedelta(seconds=90))
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(SEED)
model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1)))
optimizer = torch.optim.Adam(model.parameters(), lr=pick([0.05, 0.03, 0.08]))
generator = torch.Generator().manual_seed(SEED * 9 + rank)
for step in range(1, 41):
    bits = torch.randint(0, 2, (64, 2), generator=generator).float()
    target = (bits.sum(1, keepdim=True) == 1).float()
    loss = nn.functional.binary_cross_entropy_with_logits(model(bits), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 2 == 0:
        print(f"(rank {rank}/{world}) step {step}: loss = {loss.item():.4f}")
dist.barrier()
if rank == 0:
    print("Training finished.")
dist.destroy_process_group()
