r"""A script that needs torchrun is started with plain python: the rank is not in the environment.

cause: distributed.launcher
not: [distributed.rendezvous, config.arguments, distributed.port-in-use]
signature: 'environment variable RANK expected, but not set'
runs_as: train_ddp.py
launch: python train_ddp.py --batch-size 64 --epochs 5
"""

import argparse

import torch
import torch.distributed as dist
from labkit import SEED, pick
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=32)
parser.add_argument("--epochs", type=int, default=1)
parser.add_argument("--model", default=pick(["resnet8", "mlp", "convnet"]))
args = parser.parse_args()
print("=" * 40)
for name, value in sorted(vars(args).items()):
    print(f"{name:>16}: {value}")
print("=" * 40)
print(f"torch {torch.__version__}, gloo available: {dist.is_gloo_available()}")
dist.init_process_group(backend="gloo")
torch.manual_seed(SEED)
model = DDP(nn.Linear(32, 10))
for epoch in range(args.epochs):
    loss = nn.functional.cross_entropy(model(torch.randn(args.batch_size, 32)), torch.randint(0, 10, (args.batch_size,)))
    loss.backward()
    print(f"epoch {epoch} loss {loss.item():.3f}")
