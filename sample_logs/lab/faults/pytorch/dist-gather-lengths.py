r"""Predictions of variable length are gathered without padding after the epoch; the debug wrapper finds tensors of different shapes on the ranks.

cause: distributed.rank-desync
also: [code.shape-mismatch]
not: [distributed.nccl-network, distributed.nccl-timeout, data.collation]
signature: 'RuntimeError: Detected mismatch between collectives on ranks'
variables: {TORCH_DISTRIBUTED_DEBUG: DETAIL}
runs_as: evaluate_and_train.py
launch: torchrun --standalone --nproc-per-node 2 evaluate_and_train.py --epochs 4
"""

import argparse
import logging
import sys
from datetime import timedelta

import torch
import torch.distributed as dist
from labkit import SEED, pick
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=1)
parser.add_argument("--threshold", type=float, default=pick([0.5, 0.6, 0.4]))
args = parser.parse_args()
dist.init_process_group("gloo", timeout=timedelta(seconds=60))
rank, world = dist.get_rank(), dist.get_world_size()
logging.basicConfig(stream=sys.stdout, level=logging.INFO, format=f"%(asctime)s [{rank}] %(message)s")
torch.manual_seed(SEED + rank)
images = torch.rand(96, 1, 12, 12)
labels = (images.mean((1, 2, 3)) > 0.5).float()
torch.manual_seed(SEED)
network = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(16, 1))
optimizer = torch.optim.RMSprop(network.parameters(), lr=1e-3)


def synchronise():
    for parameter in network.parameters():
        dist.all_reduce(parameter.grad)
        parameter.grad.div_(world)


for epoch in range(args.epochs):
    for start in range(0, 96, 24):
        logits = network(images[start:start + 24]).squeeze(1)
        loss = nn.functional.binary_cross_entropy_with_logits(logits, labels[start:start + 24])
        optimizer.zero_grad()
        loss.backward()
        synchronise()
        optimizer.step()
        logging.info("epoch %d batch %d bce %.4f", epoch, start // 24, loss.item())
    if epoch == args.epochs - 1:
        positives = images[labels > 0].flatten(1).mean(1)
        logging.info("epoch %d gathering %d positives", epoch, len(positives))
        gathered = [torch.empty_like(positives) for _ in range(world)]
        dist.all_gather(gathered, positives)
        logging.info("positives: mean %.3f", torch.cat(gathered).mean().item())
