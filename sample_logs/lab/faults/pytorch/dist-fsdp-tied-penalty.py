r"""With FSDP2 a regularisation term mixes a sharded weight with a plain tensor outside of the forward pass.

cause: distributed.sharding
also: [code.user-exception]
not: [code.shape-mismatch, code.dtype-mismatch, distributed.rank-desync]
signature: 'got mixed torch.Tensor and DTensor'
runs_as: train_fsdp.py
launch: torchrun --standalone --nproc-per-node 2 train_fsdp.py
"""

from datetime import timedelta

import torch
import torch.distributed as dist
from labkit import SEED, note, pick
from torch import nn
from torch.distributed.fsdp import fully_shard

dist.init_process_group("gloo", timeout=timedelta(seconds=60))
rank = dist.get_rank()
torch.manual_seed(SEED)
width = pick([32, 48, 64])
model = nn.Sequential(*[nn.Sequential(nn.Linear(width, width), nn.GELU()) for _ in range(3)], nn.Linear(width, 4))
anchor = model[0][0].weight.detach().clone()
for block in model[:-1]:
    fully_shard(block)
fully_shard(model)
if rank == 0:
    print(model, flush=True)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(1, 21):
    x = torch.randn(8, width)
    loss = nn.functional.cross_entropy(model(x), x[:, :4].argmax(1))
    if step > pick([5, 8, 3]):
        loss = loss + 0.1 * (model[0][0].weight - anchor).square().sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if rank == 0:
        print(f"step {step} loss {loss.item():.4f}", flush=True)
        note("loss", step, float(f"{loss.item():.4f}"))
