r"""A device mesh of two times two ranks is asked for in a job of two processes.

cause: distributed.device-count
also: [distributed.launcher]
not: [distributed.rendezvous, distributed.rank-desync, cuda.not-available]
signature: 'RuntimeError: Mesh should not be bigger than default world size'
runs_as: train_tp.py
launch: torchrun --standalone --nproc-per-node 2 train_tp.py --tp 2
"""

import argparse
from datetime import timedelta

import torch
import torch.distributed as dist
from labkit import SEED, pick
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

parser = argparse.ArgumentParser()
parser.add_argument("--tp", type=int, default=1, help="tensor parallel ranks")
parser.add_argument("--dp", type=int, default=pick([2, 4, 3]), help="data parallel ranks")
args = parser.parse_args()
dist.init_process_group("gloo", timeout=timedelta(seconds=60))
if dist.get_rank() == 0:
    print(f"parallel layout: dp={args.dp} tp={args.tp}, launched with WORLD_SIZE={dist.get_world_size()}", flush=True)
mesh = init_device_mesh("cpu", (args.dp, args.tp), mesh_dim_names=("dp", "tp"))
torch.manual_seed(SEED)
model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 16))
model = parallelize_module(model, mesh["tp"], {"0": ColwiseParallel(), "2": RowwiseParallel()})
for step in range(5):
    loss = model(torch.randn(4, 16)).square().mean()
    loss.backward()
    print(f"step {step} loss {loss.item():.4f}")
