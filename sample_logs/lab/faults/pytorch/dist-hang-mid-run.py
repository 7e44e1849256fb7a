r"""Two ranks; one blocks on a queue that its loader thread no longer fills, the other waits in the all-reduce. Output stops and the job stays until its time is up.

cause: hang.stalled
also: [distributed.rank-desync]
not: [healthy.running, hang.startup, performance.slow]
ends: time limit
seconds: 60
outcome: stalled
runs_as: train_stream.py
launch: torchrun --standalone --nproc-per-node 2 train_stream.py
"""

import queue
import threading
from datetime import timedelta

import torch
import torch.distributed as dist
from labkit import SEED, note, pick
from torch import nn

dist.init_process_group("gloo", timeout=timedelta(hours=1))
rank = dist.get_rank()
torch.manual_seed(SEED)
stream = queue.Queue(maxsize=8)
length = pick([24, 37, 30]) if rank == 1 else 400


def feed():
    generator = torch.Generator().manual_seed(SEED * 2 + rank)
    for _ in range(length):
        stream.put(torch.randn(16, 22, generator=generator))


threading.Thread(target=feed, daemon=True).start()
model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(22, 44), nn.ReLU(), nn.Linear(44, 22)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
if rank == 0:
    print("streaming from 2 sources, 400 batches planned", flush=True)
for step in range(1, 401):
    x = stream.get()
    loss = nn.functional.l1_loss(model(x), x.flip(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if rank == 0:
        print(f"batch {step:4d}/400  l1 {loss.item():.4f}", flush=True)
        note("loss", step, float(f"{loss.item():.4f}"))
