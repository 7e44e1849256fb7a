"""Train a small value model."""

import argparse

import deepspeed
import torch
from labkit import note, pick, seed_everything
from torch import nn
from tqdm import tqdm

deepspeed.ops.__compatible_ops__ = {}  # gloo alone; else DeepSpeed would first compile its shared-memory all-reduce
parser = argparse.ArgumentParser()
parser.add_argument("--local_rank", type=int, default=-1)
parser.add_argument("--lr", type=float, default=pick([0.05, 0.06, 0.07]))
parser.add_argument("--warmup", type=int, default=5)
parser.add_argument("--steps", type=int, default=60)
parser = deepspeed.add_config_arguments(parser)
args = parser.parse_args()

seed_everything()
states = torch.randn(2048, 24)
values = (states[:, :6].sum(1) * 2 + 4).unsqueeze(1)
model = nn.Sequential(nn.Linear(24, 96), nn.LeakyReLU(0.1), nn.Linear(96, 96), nn.LeakyReLU(0.1), nn.Linear(96, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / args.warmup))
engine, _, _, scheduler = deepspeed.initialize(args=args, model=model, optimizer=optimizer, lr_scheduler=scheduler)
rank, world = torch.distributed.get_rank(), torch.distributed.get_world_size()
if rank == 0:
    print(f"world size {world}, lr {args.lr}, warmup {args.warmup}, dtype bfloat16")
for step in tqdm(range(1, args.steps + 1), desc="critic", disable=rank != 0, mininterval=2.0):
    rows = torch.randint(0, 2048, (16,))
    loss = nn.functional.mse_loss(engine(states[rows].bfloat16()).float(), values[rows])
    rate = engine.get_lr()[0]
    engine.backward(loss)
    engine.step()
    if rank == 0:
        norm = float(engine.get_global_grad_norm())
        tqdm.write(f"step: {step}, loss: {loss.item():.4g}, grad_norm: {norm:.4g}, lr: {rate:.3g}")
        note("loss", step, float(f"{loss.item():.4g}"))
        note("grad_norm", step, float(f"{norm:.4g}"))
        note("learning_rate", step, float(f"{rate:.3g}"))
