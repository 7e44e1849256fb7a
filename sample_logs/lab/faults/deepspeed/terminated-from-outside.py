"""The whole job gets SIGTERM from outside in the middle of training: the launcher says so and ends its processes.

cause: scheduler.terminated
seconds: 300
also: [scheduler.preempted, scheduler.cancelled]
not: [code.user-exception, memory.host-oom, distributed.peer-failure, healthy.running, healthy.completed]
signature: 'Main process received SIGTERM, exiting'
first_failure: 'Killing subprocess'
launch: |
  trap : TERM
  deepspeed --num_gpus 2 --master_port $LAB_PORT train.py --max-steps 100000 > job.log 2>&1 &
  until grep -q 'step 40' job.log 2> /dev/null; do sleep 0.5; done
  kill -TERM 0
  until grep -q 'exiting' job.log; do sleep 0.5; done
  cat job.log
  exit 143
"""

import argparse

import deepspeed
import torch
from labkit import pick, seed_everything
from torch import nn

deepspeed.ops.__compatible_ops__ = {}  # gloo alone; else DeepSpeed would first compile its shared-memory all-reduce
parser = argparse.ArgumentParser()
parser.add_argument("--local_rank", type=int, default=-1)
parser.add_argument("--max-steps", type=int, default=100)
args = parser.parse_args()
seed_everything()
model = nn.Sequential(nn.Linear(20, 80), nn.GELU(), nn.Linear(80, 20))
engine, _, _, _ = deepspeed.initialize(
    model=model,
    optimizer=torch.optim.AdamW(model.parameters(), lr=pick([1e-3, 3e-4, 2e-3])),
    config={"train_micro_batch_size_per_gpu": 16, "zero_optimization": {"stage": pick([1, 2, 0])}, "bf16": {"enabled": True}},
)
for step in range(1, args.max_steps + 1):
    x = torch.randn(16, 20).bfloat16()
    loss = nn.functional.mse_loss(engine(x).float(), torch.cumsum(x.float(), 1))
    engine.backward(loss)
    engine.step()
    if args.local_rank == 0 and step % 5 == 0:
        print(f"step {step} loss {loss.item():.4f} grad_norm {float(engine.get_global_grad_norm()):.3f}")
    torch.distributed.barrier()
    if step >= 40:
        __import__("time").sleep(0.2)
