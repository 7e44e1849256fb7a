r"""A model with a second head that the loss of this task does not use: DDP refuses the second iteration on all ranks.

cause: distributed.ddp-unused-parameters
not: [distributed.rank-desync, distributed.peer-failure, code.autograd-no-grad]
signature: 'RuntimeError: Expected to have finished reduction in the prior iteration'
runs_as: pretrain_mtl.py
launch: torchrun --nnodes 1 --nproc-per-node 2 --master-port $LAB_PORT pretrain_mtl.py --task depth
"""

import argparse
from datetime import timedelta

import torch
import torch.distributed as dist
from labkit import SEED, pick
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

parser = argparse.ArgumentParser()
parser.add_argument("--task", choices=["depth", "normals", "both"], default="both")
args = parser.parse_args()


class Network(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv2d(3, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU())
        self.heads = nn.ModuleDict({"depth": nn.Conv2d(width, 1, 1), "normals": nn.Conv2d(width, 3, 1)})

    def forward(self, image, task):
        features = self.backbone(image)
        return {name: head(features) for name, head in self.heads.items() if task in (name, "both")}


dist.init_process_group("gloo", timeout=timedelta(seconds=60))
torch.manual_seed(SEED)
width = pick([8, 12, 16])
model = DDP(Network(width))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
if dist.get_rank() == 0:
    print(model, flush=True)
    print(f"task {args.task}, trainable parameters {sum(p.numel() for p in model.parameters() if p.requires_grad)}", flush=True)
for iteration in range(1, 101):
    image = torch.rand(4, 3, 16, 16)
    outputs = model(image, args.task)
    loss = sum((output - image.mean(1, keepdim=True)).abs().mean() for output in outputs.values())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if dist.get_rank() == 0:
        print(f"Iter [{iteration}/100] loss: {loss.item():.4f}", flush=True)
