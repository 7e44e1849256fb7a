r"""The first attempt ends because a lock file of the data cache is still there; torchrun restarts the workers, the second attempt runs to its end.

cause: healthy.completed
not: [data.missing-file, io.race, distributed.peer-failure, code.user-exception]
also: [healthy.running]
outcome: completed
step_basis: epoch
note: 'one failed attempt and one restart; the last attempt counts'
runs_as: train.py
launch: torchrun --standalone --nproc-per-node 2 --max-restarts 1 train.py
"""

import os
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist
from labkit import SEED, note, pick
from torch import nn

attempt, rank, world = (int(os.environ[name]) for name in ("TORCHELASTIC_RESTART_COUNT", "RANK", "WORLD_SIZE"))
dist.init_process_group("gloo", init_method=f"file://{os.getcwd()}/.rendezvous-{attempt}", rank=rank, world_size=world, timeout=timedelta(seconds=60))
lock = Path("cache.lock")
if attempt == 0 and rank == 0:
    lock.touch()
dist.barrier()
print(f"rank {rank} starting, attempt {attempt}", flush=True)


def build_cache():
    """The first rank builds the cache; a lock of a run that was ended before is an error, and is cleared."""
    with open(lock, "x"):
        torch.save(torch.randn(400, 11), "cache.pt")
    lock.unlink()


if rank == 0:
    try:
        build_cache()
    except FileExistsError:
        lock.unlink()
        raise
dist.barrier()
data = torch.load("cache.pt")
torch.manual_seed(SEED)
model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(11, 22), nn.ReLU(), nn.Linear(22, 1)))
optimizer = torch.optim.Adam(model.parameters(), lr=pick([1e-2, 5e-3, 2e-2]))
for epoch in range(1, 9):
    for rows in data[rank::2].split(50):
        loss = nn.functional.mse_loss(model(rows), rows[:, :2].sum(1, keepdim=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if rank == 0:
        print(f"epoch {epoch}/8 - loss: {loss.item():.4f}", flush=True)
        note("loss", epoch, float(f"{loss.item():.4f}"))
if rank == 0:
    print("training complete", flush=True)
dist.destroy_process_group()
