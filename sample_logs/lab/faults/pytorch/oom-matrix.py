r"""Between two epochs the whole matrix of pairwise distances is built in host memory, many times the container's limit: the kernel kills the process.

cause: memory.host-oom
not: [memory.cuda-oom, scheduler.terminated, code.native-crash]
signature: '\bKilled\b'
needs: [cgroup]
memory_mib: 600
runs_as: train_retrieval.py
launch: |
  echo "job started, memory limit $(cat /sys/fs/cgroup/memory$(grep -oP '(?<=:memory:).*' /proc/self/cgroup)/memory.limit_in_bytes) bytes"
  python train_retrieval.py --epochs 4
  status=$?
  echo "train_retrieval.py returned $status"
  exit $status
"""

import argparse

import psutil
import torch
from labkit import note, pick, seed_everything

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=10)
parser.add_argument("--items", type=int, default=pick([30000, 24000, 36000]))
parser.add_argument("--margin", type=float, default=4.0)
args = parser.parse_args()


def embed_all(model, items):
    with torch.no_grad():
        return torch.cat([torch.nn.functional.normalize(model(chunk), dim=1) for chunk in items.split(1000)])


def hard_negatives(vectors):
    free = psutil.Process().memory_info().rss / 1e6
    print(f"mining hard negatives among {len(vectors)} x {len(vectors)} pairs (rss {free:.0f} MB)")
    similarity = torch.ones(len(vectors), len(vectors)).mul_(vectors @ vectors[0])
    return similarity.fill_diagonal_(-1).argmax(1)


seed_everything()
items = torch.randn(args.items, 32)
model = torch.nn.Linear(32, 16, bias=False)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
negatives = torch.randint(0, args.items, (args.items,))
for epoch in range(args.epochs):
    running = 0.0
    for number, rows in enumerate(torch.randperm(args.items).split(1000), 1):
        anchor, positive, negative = model(items[rows]), model(items[rows] + 0.1), model(items[negatives[rows]])
        loss = torch.nn.functional.triplet_margin_loss(anchor, positive, negative, margin=args.margin)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += loss.item()
        if number % 5 == 0:
            print(f"epoch {epoch + 1}, batch {number}, triplet loss {running / number:.5f}")
            note("loss", number, float(f"{running / number:.5f}"))
    negatives = hard_negatives(embed_all(model, items))
