"""Rank 1 keeps every batch's activations in a list; the container's memory is full, the kernel kills that process with SIGKILL, and the launcher ends the others.

cause: memory.host-oom
seconds: 300
also: [scheduler.terminated]
not: [memory.cuda-oom, distributed.peer-failure, code.native-crash, distributed.nccl-timeout]
signature: 'exits with return code = -9'
first_failure: 'exits with return code = -9'
first_failure_source: 'launcher'
needs: [cgroup]
memory_mib: 3600
launch: |
  deepspeed --num_gpus 2 --enable_each_rank_log logs --master_port $LAB_PORT extract_and_train.py > launcher.log 2>&1
  status=$?
  for file in logs/*_rank*.log; do cp "$file" "$LAB_OUT/rank${file##*_rank}"; done
  cp launcher.log "$LAB_OUT/"
  exit $status
runs_as: extract_and_train.py
"""

import argparse

import deepspeed
import psutil
import torch
from labkit import pick, seed_everything
from torch import nn

deepspeed.ops.__compatible_ops__ = {}  # gloo alone; else DeepSpeed would first compile its shared-memory all-reduce
parser = argparse.ArgumentParser()
parser.add_argument("--local_rank", type=int, default=-1)
rank = parser.parse_args().local_rank
seed_everything()
width = pick([512, 768, 640])
trunk = nn.Sequential(nn.Linear(64, width), nn.ReLU())
model = nn.Sequential(trunk, nn.Linear(width, 8))
engine, _, _, _ = deepspeed.initialize(model=model, optimizer=torch.optim.AdamW(model.parameters()), config={"train_micro_batch_size_per_gpu": 64, "zero_optimization": {"stage": 1}})
history = []
for step in range(1, 1001):
    x = torch.randn(64, 64)
    loss = nn.functional.cross_entropy(engine(x), torch.randint(0, 8, (64,)))
    engine.backward(loss)
    engine.step()
    if rank == 1:
        history.append(torch.cat([trunk(torch.randn(64, 64)).detach() for _ in range(256)]))
    if step % 5 == 0:
        print(f"rank {rank} step {step} loss {loss.item():.4f} rss {psutil.Process().memory_info().rss / 2**30:.2f} GiB")
