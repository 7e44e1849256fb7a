"""A torchrun job of two ranks with redirected output: the prepared shard of rank 1 is not there.

cause: data.missing-file
seconds: 300
not: [distributed.peer-failure, io.permission, checkpoint.corrupt, distributed.rank-desync]
signature: 'FileNotFoundError: \\[Errno 2\\]'
first_failure: 'FileNotFoundError: \\[Errno 2\\]'
first_failure_source: '^1/stderr'
launch: |
  torchrun --nproc-per-node 2 --master-port $LAB_PORT --redirects 3 --log-dir logs train_ranker.py > agent.log 2>&1
  status=$?
  cp -r logs/*/attempt_0/. "$LAB_OUT/"
  cp agent.log "$LAB_OUT/agent.log"
  rm -f "$LAB_OUT"/*/error.json
  exit $status
runs_as: train_ranker.py
"""

import os

import deepspeed
import torch
from labkit import pick, seed_everything
from torch import nn

deepspeed.ops.__compatible_ops__ = {}  # gloo alone; else DeepSpeed would first compile its shared-memory all-reduce
seed_everything()
rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
folder = pick(["prepared", "data/shards", "cache/tokenized"])
if rank == 0:
    os.makedirs(folder, exist_ok=True)
    torch.save(torch.randn(320, 20), f"{folder}/part-00000-of-0000{world}.pt")
model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 1))
engine, *_ = deepspeed.initialize(model=model, optimizer=torch.optim.Adam(model.parameters(), lr=1e-3), config={"train_micro_batch_size_per_gpu": 16, "zero_optimization": {"stage": 2}})
print(f"rank {rank}/{world}: loading shard from {folder}")
features = torch.load(f"{folder}/part-{rank:05d}-of-{world:05d}.pt")
print(f"rank {rank}/{world}: {len(features)} pairs")
for step, (left, right) in enumerate(zip(features[::2].split(16), features[1::2].split(16), strict=True)):
    loss = nn.functional.softplus(engine(right) - engine(left)).mean()
    engine.backward(loss)
    engine.step()
    print(f"rank {rank}/{world}: step {step} loss {loss.item():.4f}")
