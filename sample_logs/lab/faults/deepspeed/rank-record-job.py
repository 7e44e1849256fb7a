"""A job of three ranks with a log each: rank 2 meets a record without the label's key and raises KeyError, the others lose their connection or are killed by the launcher.

cause: data.schema
seconds: 300
also: [code.user-exception]
not: [distributed.peer-failure, distributed.nccl-timeout, distributed.rank-desync, config.deepspeed]
signature: "KeyError: '"
first_failure: "KeyError: '"
first_failure_source: 'rank2'
launch: |
  deepspeed --num_gpus 3 --enable_each_rank_log logs --master_port $LAB_PORT train_reviews.py --train data/train.jsonl > launcher.log 2>&1
  status=$?
  for file in logs/*_rank*.log; do cp "$file" "$LAB_OUT/rank${file##*_rank}"; done
  cp launcher.log "$LAB_OUT/launcher.log"
  exit $status
runs_as: train_reviews.py
"""

import argparse
import json
import os

import deepspeed
import torch
from labkit import SEED, pick, seed_everything
from torch import nn
from torch.utils.data import DataLoader, Dataset, DistributedSampler

deepspeed.ops.__compatible_ops__ = {}  # gloo alone; else DeepSpeed would first compile its shared-memory all-reduce


def write_data(path):
    """What the export left: a few of its records carry another name for the label, one of them in rank 2's share of an early batch."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if not os.path.exists(path):
        bad = 3 * pick([40, 75, 22]) + 2
        with open(path + f".{os.getpid()}", "w", encoding="utf-8") as sink:
            for index in range(600):
                record = {"tokens": [(index * 5 + k * k) % 97 for k in range(12)], pick(["label", "stars", "score"]): index % 5}
                if index == bad:
                    record = {"tokens": record["tokens"], "rating": 3}
                sink.write(json.dumps(record) + "\n")
        os.replace(path + f".{os.getpid()}", path)


class Reviews(Dataset):
    def __init__(self, path):
        with open(path, encoding="utf-8") as source:
            self.records = [json.loads(line) for line in source]

    def __len__(self):
        return len(self.records)

    def __getitem__(self, index):
        record = self.records[index]
        return torch.tensor(record["tokens"]), record[pick(["label", "stars", "score"])]


parser = argparse.ArgumentParser()
parser.add_argument("--local_rank", type=int, default=-1)
parser.add_argument("--train", default="data/train.jsonl")
args = parser.parse_args()
write_data(args.train)
seed_everything()
model = nn.Sequential(nn.EmbeddingBag(100, 32), nn.ReLU(), nn.Linear(32, 5))
engine, _, _, _ = deepspeed.initialize(
    model=model,
    optimizer=torch.optim.AdamW(model.parameters(), lr=2e-3),
    config={"train_micro_batch_size_per_gpu": 4, "zero_optimization": {"stage": pick([1, 2, 0])}, "bf16": {"enabled": SEED % 2 == 0}},
)
data = Reviews(args.train)
loader = DataLoader(data, batch_size=4, sampler=DistributedSampler(data, shuffle=False))
print(f"rank {args.local_rank}: {len(data)} records, {len(loader)} batches per epoch")
for step, (tokens, labels) in enumerate(loader):
    loss = nn.functional.cross_entropy(engine(tokens).float(), labels)
    engine.backward(loss)
    engine.step()
    print(f"rank {args.local_rank} step {step} loss {loss.item():.4f}")
