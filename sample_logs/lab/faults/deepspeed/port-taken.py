"""Another job on this machine listens on the rendezvous port: the store of rank 0 cannot bind to it.

cause: distributed.port-in-use
seconds: 300
not: [distributed.rendezvous, distributed.launcher, io.permission, distributed.nccl-network]
signature: 'EADDRINUSE|address already in use'
launch: |
  python -m http.server $LAB_PORT > /dev/null 2>&1 &
  sleep 2
  deepspeed --num_gpus 1 --master_port $LAB_PORT train_second.py
  status=$?
  kill %1
  exit $status
runs_as: train_second.py
"""

import argparse

import deepspeed
import torch
from labkit import pick, seed_everything

deepspeed.ops.__compatible_ops__ = {}  # gloo alone; else DeepSpeed would first compile its shared-memory all-reduce
parser = argparse.ArgumentParser()
parser.add_argument("--local_rank", type=int, default=-1)
parser.add_argument("--name", default=pick(["ablation-b", "run2", "sweep-lr-3"]))
args = parser.parse_args()
print(f"=== experiment {args.name} ===")
seed_everything()
deepspeed.init_distributed(dist_backend="gloo")
model = torch.nn.Linear(32, 32)
engine, *_ = deepspeed.initialize(model=model, optimizer=torch.optim.AdamW(model.parameters()), config={"train_batch_size": 8})
for step in range(20):
    loss = engine(torch.randn(8, 32)).abs().mean()
    engine.backward(loss)
    engine.step()
    print(f"{args.name} step {step} loss {loss.item():.4f}")
