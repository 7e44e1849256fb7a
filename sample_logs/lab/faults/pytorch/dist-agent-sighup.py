r"""The terminal of an interactive torchrun session closes: the agent receives SIGHUP and ends its workers.

cause: scheduler.cancelled
also: [scheduler.terminated]
not: [scheduler.time-limit, distributed.peer-failure, memory.host-oom, scheduler.node-failure]
signature: 'got signal: 1$|got signal: 1\b(?!\d)'
first_failure: 'Received 1 death signal|got signal: 1$'
runs_as: train_ppo_lite.py
launch: |
  python -m torch.distributed.run --nproc-per-node 2 --master-port $LAB_PORT train_ppo_lite.py & agent=$!
  until [ -e warm ]; do sleep 0.1; done
  sleep 1
  kill -HUP $agent
  wait $agent
"""

import time
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist
from labkit import SEED, pick
from torch import nn

dist.init_process_group("gloo", timeout=timedelta(seconds=60))
rank = dist.get_rank()
torch.manual_seed(SEED + rank)
policy = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(4, 24), nn.Tanh(), nn.Linear(24, 3)))
optimizer = torch.optim.Adam(policy.parameters(), lr=pick([3e-3, 1e-2, 5e-3]))
for update in range(1, 1001):
    state = torch.randn(64, 4)
    logits = policy(state)
    action = torch.distributions.Categorical(logits=logits).sample()
    reward = (action == state[:, :3].argmax(1)).float()
    logp = torch.log_softmax(logits, 1).gather(1, action.unsqueeze(1)).squeeze(1)
    loss = -(logp * (reward - reward.mean())).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if rank == 0 and update % 4 == 0:
        print(f"update {update:5d}  reward {reward.mean().item():.3f}  entropy {torch.distributions.Categorical(logits=logits).entropy().mean().item():.3f}", flush=True)
    if rank == 0 and update == pick([48, 32, 64]):
        Path("warm").touch()
    time.sleep(0.05)
