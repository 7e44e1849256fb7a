r"""A damaged image stops rank 1, but a prefetch thread keeps its process alive, so the others time out first and torchrun's summary names rank 0 as the root cause.

cause: data.decode
also: [code.user-exception]
not: [distributed.nccl-timeout, distributed.peer-failure, distributed.rank-desync]
signature: 'PIL.UnidentifiedImageError: cannot identify image file'
first_failure_source: 'stderr-1\.log'
note: 'the launcher''s "Root Cause (first observed failure)" is the consequence: the process of rank 1 does not end by itself'
seconds: 180
runs_as: train_images.py
launch: |
  torchrun --standalone --nproc-per-node 2 --redirects 3 --log-dir logs train_images.py > launcher.log 2>&1
  code=$?
  for r in 0 1; do for s in stdout stderr; do cp logs/*/attempt_0/$r/$s.log $LAB_OUT/$s-$r.log; done; done
  cp launcher.log $LAB_OUT/
  exit $code
"""

import os
import queue
import threading
from datetime import timedelta
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
from labkit import SEED, pick
from PIL import Image
from torch import nn

dist.init_process_group("gloo", timeout=timedelta(seconds=90))
rank = dist.get_rank()
folder = Path(f"images-{rank}")
folder.mkdir()
noise = np.random.default_rng(SEED + rank)
names = [folder / f"{index:04d}.png" for index in range(160 if rank else 60)]
for name in names:
    Image.fromarray(noise.integers(0, 255, (24, 24, 3), dtype=np.uint8)).save(name)
if rank == 1:
    names[pick([41, 57, 30])].write_bytes(bytes(noise.integers(0, 255, 900, dtype=np.uint8)))

ready = queue.Queue(maxsize=64)
print(f"rank {rank}: {len(names)} images, prefetch 64", flush=True)


def prefetch():
    for name in names:
        ready.put((name, name.read_bytes()))


threading.Thread(target=prefetch, name="prefetch").start()


def decode(size):
    batch = []
    for _ in range(size):
        name, _ = ready.get()
        with Image.open(name) as image:
            batch.append(torch.from_numpy(np.asarray(image, dtype=np.float32) / 255).permute(2, 0, 1))
    return torch.stack(batch)


torch.manual_seed(SEED)
group = dist.new_group(backend="gloo", timeout=timedelta(seconds=15))
model = nn.Sequential(nn.Conv2d(3, 4, 5, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(400, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
model = nn.parallel.DistributedDataParallel(model, process_group=group)
dist.barrier()
for step in range(15):
    images = decode(4)
    loss = nn.functional.cross_entropy(model(images), (images.mean((1, 2, 3)) > 0.5).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    seen = torch.tensor([float(len(images)), loss.item()])
    dist.all_reduce(seen, group=group)
    print(f"rank {rank} step {step} images {int(seen[0])} mean loss {seen[1].item() / 2:.4f}", flush=True)
print(f"rank {rank} done, pid {os.getpid()}", flush=True)
