"""A loop written for DDP accumulates gradients under no_sync; ZeRO-2 partitions gradients as they arrive and does not allow that.

cause: config.deepspeed
seconds: 300
also: [distributed.sharding, code.user-exception]
not: [distributed.rank-desync, distributed.ddp-marked-ready-twice, code.autograd-no-grad]
signature: 'AssertionError: no_sync context manager is incompatible'
launch: deepspeed --num_gpus 1 --master_port $LAB_PORT train_ddp_style.py --accumulate $(python -c "from labkit import pick; print(pick([4, 2, 8]))")
runs_as: train_ddp_style.py
"""

import argparse
import contextlib

import deepspeed
import torch
from labkit import pick, seed_everything
from torch import nn

deepspeed.ops.__compatible_ops__ = {}  # gloo alone; else DeepSpeed would first compile its shared-memory all-reduce
parser = argparse.ArgumentParser()
parser.add_argument("--local_rank", type=int, default=-1)
parser.add_argument("--accumulate", type=int, default=4)
args = parser.parse_args()
seed_everything()
unet = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.SiLU(), nn.Conv2d(8, 8, 3, padding=1), nn.SiLU(), nn.Conv2d(8, 1, 3, padding=1))
model, optimizer, _, _ = deepspeed.initialize(
    model=unet,
    optimizer=torch.optim.AdamW(unet.parameters(), lr=2e-4),
    config={"train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": args.accumulate, "zero_optimization": {"stage": pick([2, 2, 3])}},
)
print(f"zero stage {model.zero_optimization_stage()}, accumulate {args.accumulate}")
for step in range(1, 101):
    images = torch.rand(4, 1, 16, 16)
    noise = torch.randn_like(images)
    last = step % args.accumulate == 0
    with contextlib.nullcontext() if last else model.no_sync():
        loss = nn.functional.mse_loss(model(images + noise), noise)
        model.backward(loss)
    if last:
        model.step()
        print(f"update {step // args.accumulate} loss {loss.item():.4f}")
