"""Masked-token model, data parallel over two nodes, configured by a JSON file."""

import argparse
import json
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist
from labkit import SEED, pick
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--config", type=Path, required=True)
config = json.loads(parser.parse_args().config.read_text())
config["vocab"] += pick([0, 20, 50])
dist.init_process_group("gloo", timeout=timedelta(seconds=60))
rank = dist.get_rank()
print(f"rank {rank} config: {json.dumps(config)}", flush=True)
torch.manual_seed(SEED)


class MaskedModel(nn.Module):
    def __init__(self, vocab, width, heads):
        super().__init__()
        self.embedding = nn.Embedding(vocab, width)
        self.encoder = nn.TransformerEncoderLayer(width, heads, 2 * width, dropout=0.0, batch_first=True)
        self.head = nn.Linear(width, vocab)

    def forward(self, tokens):
        return self.head(self.encoder(self.embedding(tokens)))


network = MaskedModel(config["vocab"], config["width"], config["heads"])
print(f"rank {rank}: {sum(p.numel() for p in network.parameters()):,} parameters", flush=True)
model = nn.parallel.DistributedDataParallel(network)
optimizer = torch.optim.AdamW(model.parameters(), lr=config["lr"])
for step in range(config["steps"]):
    tokens = torch.randint(1, config["vocab"], (8, 16))
    hidden = torch.rand(8, 16) < 0.15
    loss = nn.functional.cross_entropy(model(tokens.masked_fill(hidden, 0))[hidden], tokens[hidden])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"rank {rank} step {step} mlm loss {loss.item():.4f}", flush=True)
