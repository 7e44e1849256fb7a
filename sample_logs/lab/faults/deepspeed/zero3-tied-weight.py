"""Under ZeRO-3 the contrastive loss multiplies with the embedding's weight outside of the model's forward, where only an empty shard of it is there.

cause: distributed.sharding
seconds: 300
also: [code.shape-mismatch]
not: [checkpoint.shape-mismatch, data.collation, distributed.rank-desync, config.deepspeed]
signature: 'RuntimeError: size mismatch, got input'
launch: deepspeed --num_gpus 2 --master_port $LAB_PORT train_retriever.py --zero_stage 3
runs_as: train_retriever.py
kept: [0]
"""

import argparse

import deepspeed
import torch
from labkit import pick, seed_everything
from torch import nn

deepspeed.ops.__compatible_ops__ = {}  # gloo alone; else DeepSpeed would first compile its shared-memory all-reduce


class Retriever(nn.Module):
    def __init__(self, items, width):
        super().__init__()
        self.items = nn.Embedding(items, width)
        self.query = nn.Sequential(nn.Linear(32, width), nn.ReLU(), nn.Linear(width, width))

    def forward(self, features):
        return self.query(features)


parser = argparse.ArgumentParser()
parser.add_argument("--local_rank", type=int, default=-1)
parser.add_argument("--zero_stage", type=int, default=3)
args = parser.parse_args()
seed_everything()
items, width = pick([(500, 64), (800, 32), (1000, 48)])
config = {
    "train_micro_batch_size_per_gpu": 16,
    "bf16": {"enabled": True},
    "zero_optimization": {"stage": args.zero_stage, "stage3_param_persistence_threshold": 0},
}
model = Retriever(items, width)
engine, _, _, _ = deepspeed.initialize(model=model, optimizer=torch.optim.AdamW(model.parameters(), lr=1e-3), config=config)
if args.local_rank == 0:
    print("DeepSpeed ZeRO stage", engine.zero_optimization_stage(), "| items", items, "| width", width)
for step in range(100):
    features, positive = torch.randn(16, 32, dtype=torch.bfloat16), torch.randint(0, items, (16,))
    queries = engine(features)
    logits = queries @ engine.module.items.weight.t()
    loss = nn.functional.cross_entropy(logits.float(), positive)
    engine.backward(loss)
    engine.step()
    if args.local_rank == 0:
        print(f"step {step} loss {loss.item():.4f}")
