"""A ZeRO-2 run on two ranks saved a checkpoint; it is resumed on one (or three), and DeepSpeed does not repartition the optimiser's shards.

cause: checkpoint.resume-mismatch
seconds: 300
also: [distributed.sharding]
not: [checkpoint.corrupt, checkpoint.shape-mismatch, distributed.device-count, data.missing-file]
signature: 'ZeRORuntimeException: The checkpoint being loaded used a DP world size of'
launch: |
  deepspeed --num_gpus 2 --master_port $LAB_PORT train_lm.py --steps 6 > first_job.log 2>&1
  deepspeed --num_gpus $(python -c "from labkit import pick; print(pick([1, 3, 1]))") --master_port $LAB_PORT train_lm.py --steps 12 --resume
runs_as: train_lm.py
"""

import argparse

import deepspeed
import torch
from labkit import pick, seed_everything
from torch import nn

deepspeed.ops.__compatible_ops__ = {}  # gloo alone; else DeepSpeed would first compile its shared-memory all-reduce
parser = argparse.ArgumentParser()
parser.add_argument("--local_rank", type=int, default=-1)
parser.add_argument("--steps", type=int, default=10)
parser.add_argument("--resume", action="store_true")
parser.add_argument("--ckpt", default=pick(["checkpoints", "out/ckpt", "ds_ckpt"]))
args = parser.parse_args()
seed_everything()
model = nn.Sequential(nn.Embedding(50, 32), nn.Linear(32, 64), nn.GELU(), nn.Linear(64, 50))
engine, _, _, _ = deepspeed.initialize(
    model=model,
    optimizer=torch.optim.AdamW(model.parameters(), lr=1e-3),
    config={"train_micro_batch_size_per_gpu": 4, "zero_optimization": {"stage": 2}, "bf16": {"enabled": True}},
)
start = 0
if args.resume:
    print(f"[rank {args.local_rank}] resuming from {args.ckpt}, world size {torch.distributed.get_world_size()}", flush=True)
    path, state = engine.load_checkpoint(args.ckpt)
    start = state["step"] + 1
    print(f"[rank {args.local_rank}] resumed {path} at step {start}")
for step in range(start, args.steps):
    tokens = torch.randint(0, 50, (4, 21))
    loss = nn.functional.cross_entropy(engine(tokens[:, :-1]).float().flatten(0, 1), tokens[:, 1:].flatten())
    engine.backward(loss)
    engine.step()
    if args.local_rank == 0:
        print(f"step {step} | loss {loss.item():.4f}")
engine.save_checkpoint(args.ckpt, client_state={"step": step})
