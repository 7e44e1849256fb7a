"""The script is started with plain python: RANK and WORLD_SIZE are not set, DeepSpeed looks for MPI instead and mpi4py is not installed.

cause: distributed.launcher
seconds: 300
also: [environment.missing-package]
not: [environment.version-incompatible, distributed.rendezvous, code.user-exception]
signature: "ModuleNotFoundError: No module named 'mpi4py'"
launch: python -u train.py --batch-size 16
kept: [0]
"""

import argparse

import deepspeed
import torch
from deepspeed.utils.logging import set_log_level_from_string
from labkit import pick, seed_everything
from torch import nn

deepspeed.ops.__compatible_ops__ = {}  # gloo alone; else DeepSpeed would first compile its shared-memory all-reduce
set_log_level_from_string("info")
parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=8)
args = parser.parse_args()
seed_everything()
model = pick([nn.GRU(8, 16, 1), nn.Linear(8, 8), nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8))])
print(f"{type(model).__name__}, {sum(p.numel() for p in model.parameters())} parameters, batch size {args.batch_size}")
engine, optimizer, _, _ = deepspeed.initialize(
    model=model,
    optimizer=torch.optim.AdamW(model.parameters(), lr=1e-3),
    config={"train_batch_size": args.batch_size, "zero_optimization": {"stage": pick([1, 2, 3])}},
)
for step in range(10):
    out = engine(torch.randn(args.batch_size, 8))
    loss = (out[0] if isinstance(out, tuple) else out).pow(2).mean()
    engine.backward(loss)
    engine.step()
    print(step, loss.item())
