"""After each epoch rank 0 alone enters a barrier (it stands inside `if rank == 0`), the other rank is in the next step's all-reduce: both wait, no error comes, the logs stop.

cause: hang.stalled
seconds: 100
also: [distributed.rank-desync]
not: [healthy.running, healthy.completed, distributed.nccl-timeout, hang.startup, distributed.peer-failure]
outcome: stalled
ends: time limit
launch: |
  deepspeed --num_gpus 2 --enable_each_rank_log logs --master_port $LAB_PORT train_epochs.py > "$LAB_OUT/launcher.log" 2>&1 &
  while sleep 2; do
    for file in logs/*_rank*.log; do cp "$file" "$LAB_OUT/rank${file##*_rank}"; done 2> /dev/null
  done
runs_as: train_epochs.py
"""

import argparse
import json
import time

import deepspeed
import torch
from labkit import pick, seed_everything
from torch import nn

deepspeed.ops.__compatible_ops__ = {}  # gloo alone; else DeepSpeed would first compile its shared-memory all-reduce
parser = argparse.ArgumentParser()
parser.add_argument("--local_rank", type=int, default=-1)
rank = parser.parse_args().local_rank
seed_everything()
model = nn.Sequential(nn.Linear(30, 60), nn.ReLU(), nn.Linear(60, 3))
engine, _, _, _ = deepspeed.initialize(
    model=model,
    optimizer=torch.optim.AdamW(model.parameters(), lr=1e-3),
    config={"train_micro_batch_size_per_gpu": 10, "zero_optimization": {"stage": pick([1, 2, 1])}},
)
begin = time.time()
steps = pick([20, 12, 16])
for epoch in range(1, 6):
    for step in range(1, steps + 1):
        x = torch.randn(10, 30)
        loss = nn.functional.cross_entropy(engine(x), (x[:, :3].argmax(1)))
        engine.backward(loss)
        engine.step()
        if step % 4 == 0:
            print(f"{time.time() - begin:7.1f}s rank {rank} epoch {epoch} step {step}/{steps} loss {loss.item():.4f}", flush=True)
    if rank == 0:
        with open(f"metrics-{epoch}.json", "w", encoding="utf-8") as sink:
            json.dump({"epoch": epoch, "loss": loss.item()}, sink)
        print(f"rank 0: metrics of epoch {epoch} written", flush=True)
        torch.distributed.barrier()
