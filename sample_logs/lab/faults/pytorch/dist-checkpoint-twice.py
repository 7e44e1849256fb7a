r"""A recurrent stack applies one block several times under re-entrant checkpointing; its parameters are marked ready twice.

cause: distributed.ddp-marked-ready-twice
also: [config.checkpointing-conflict]
not: [distributed.ddp-unused-parameters, distributed.rank-desync]
signature: 'RuntimeError: Expected to mark a variable ready only once'
runs_as: train_universal.py
launch: torchrun --standalone --nproc-per-node 2 train_universal.py
"""

import os
from datetime import timedelta

import torch
import torch.distributed as dist
from labkit import SEED, pick
from torch import nn
from torch.utils.checkpoint import checkpoint

dist.init_process_group("gloo", timeout=timedelta(seconds=60))
local_rank = int(os.environ["LOCAL_RANK"])
torch.manual_seed(SEED)


class UniversalTransformer(nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.depth = depth
        self.embedding = nn.Embedding(64, 32)
        self.block = nn.TransformerEncoderLayer(32, 2, 64, dropout=0.0, batch_first=True)
        self.head = nn.Linear(32, 64)

    def forward(self, tokens):
        hidden = self.embedding(tokens)
        for _ in range(self.depth):
            hidden = checkpoint(self.block, hidden, use_reentrant=True)
        return self.head(hidden)


network = UniversalTransformer(pick([3, 2, 4]))
if local_rank == 0:
    print(f"depth {network.depth}, gradient checkpointing on, {sum(p.numel() for p in network.parameters())} parameters", flush=True)
model = nn.parallel.DistributedDataParallel(network)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(20):
    tokens = torch.randint(0, 64, (8, 12))
    loss = nn.functional.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    if local_rank == 0:
        print(f"step {step} loss {loss.item():.4f}", flush=True)
