r"""Two ranks; rank 0 writes the checkpoint to a file system that is mounted read-only, rank 1 waits for it in a barrier.

cause: io.permission
also: [checkpoint.save-failed, io.storage]
not: [io.disk-full, distributed.peer-failure, data.missing-file]
signature: 'OSError: \[Errno 30\] Read-only file system'
first_failure_source: 'stderr_rank0'
needs: [tmpfs]
runs_as: train_kmeans.py
launch: |
  unshare -m bash -c '
  mkdir output && mount -t tmpfs -o ro output output
  torchrun --standalone --nproc-per-node 2 --redirects 3 --log-dir logs train_kmeans.py --output output > agent.txt 2>&1'
  code=$?
  for r in 0 1; do for s in stdout stderr; do cp logs/*/attempt_0/$r/$s.log $LAB_OUT/${s}_rank$r.txt; done; done
  cp agent.txt $LAB_OUT/
  exit $code
"""

import argparse
import io
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist
from labkit import SEED, pick

parser = argparse.ArgumentParser()
parser.add_argument("--output", type=Path, required=True)
parser.add_argument("--save-every", type=int, default=pick([20, 15, 30]))
args = parser.parse_args()
dist.init_process_group("gloo", timeout=timedelta(seconds=60))
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(SEED)
centres = torch.randn(6, 2)
torch.manual_seed(SEED + rank)
points = torch.randn(900, 2) * 0.6 + torch.randint(-2, 3, (900, 2))
print(f"rank {rank}: {len(points)} points, {len(centres)} centres, saving every {args.save_every} iterations to {args.output}", flush=True)


def save(iteration):
    buffer = io.BytesIO()
    torch.save({"centres": centres, "iteration": iteration}, buffer)
    with open(args.output / f"centres-{iteration:05d}.pt", "wb") as sink:
        sink.write(buffer.getvalue())


for iteration in range(1, 61):
    distance = torch.cdist(points, centres)
    nearest = distance.argmin(1)
    sums = torch.zeros_like(centres).index_add_(0, nearest, points)
    counts = torch.bincount(nearest, minlength=6).float().unsqueeze(1)
    dist.all_reduce(sums)
    dist.all_reduce(counts)
    centres = centres.lerp(sums / counts.clamp(min=1), 0.2)
    inertia = distance.amin(1).square().sum()
    dist.all_reduce(inertia)
    print(f"rank {rank}: iteration {iteration} inertia {inertia.item():.2f}", flush=True)
    if iteration % args.save_every == 0:
        if rank == 0:
            save(iteration)
        dist.barrier()
