"""Ctrl-C in the terminal of a deepspeed job: KeyboardInterrupt in the processes, and the launcher reports SIGINT.

cause: scheduler.cancelled
seconds: 300
also: [scheduler.terminated]
not: [code.user-exception, distributed.peer-failure, memory.host-oom, hang.stalled]
signature: 'Main process received SIGINT, exiting|KeyboardInterrupt'
launch: |
  set -m
  deepspeed --num_gpus 1 --master_port $LAB_PORT train_toy.py > job.log 2>&1 &
  until grep -q 'it 30 ' job.log 2> /dev/null; do sleep 0.5; done
  kill -INT -- -$!
  wait $!
  status=$?
  until grep -q 'received SIGINT\\|return code' job.log; do sleep 0.5; done
  cat job.log
  exit $status
runs_as: train_toy.py
"""

import argparse
import time

import deepspeed
import torch
from labkit import pick, seed_everything
from torch import nn

deepspeed.ops.__compatible_ops__ = {}  # gloo alone; else DeepSpeed would first compile its shared-memory all-reduce
parser = argparse.ArgumentParser()
parser.add_argument("--local_rank", type=int, default=-1)
parser.parse_args()
seed_everything()
model = nn.Sequential(nn.Linear(2, pick([32, 64, 16])), nn.Tanh(), nn.Linear(pick([32, 64, 16]), 1))
engine, *_ = deepspeed.initialize(model=model, optimizer=torch.optim.AdamW(model.parameters(), lr=1e-2), config={"train_batch_size": 32, "zero_optimization": {"stage": 1}})
for iteration in range(1, 5001):
    points = torch.rand(32, 2)
    loss = nn.functional.mse_loss(engine(points), (points.prod(1, keepdim=True) * 6).sin())
    engine.backward(loss)
    engine.step()
    if iteration % 5 == 0:
        print(f"it {iteration} loss {loss.item():.5f}")
    if iteration >= 30:
        time.sleep(0.25)
