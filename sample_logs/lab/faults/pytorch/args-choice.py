"""A required option is missing, a choice is none of those offered, or a number is written as a word: argparse stops the second of two stages.

cause: config.arguments
not: [data.schema, config.trainer, healthy.completed, code.user-exception]
signature: 'error: (the following arguments are required|argument .*: invalid)'
runs_as: run.py
launch: |
  set -e
  python run.py tokenize --corpus tiny.txt --vocab-size 200
  echo "stage 1 done"
  case $LAB_SEED in
    0) python run.py pretrain --corpus tiny.txt --steps 50 --schedule cosine_with_warmup ;;
    1) python run.py pretrain --corpus tiny.txt --steps 1e4 --schedule cosine ;;
    *) python run.py pretrain --steps 50 --schedule cosine ;;
  esac
  echo "stage 2 done"
"""

import argparse
from collections import Counter

import torch
from labkit import seed_everything


def tokenize(args):
    text = "a small text of some small words for a small vocabulary " * 50
    pairs = Counter(zip(text, text[1:]))
    for number, (pair, count) in enumerate(pairs.most_common(12), 1):
        print(f"merge {number:>3}/{args.vocab_size}: {pair[0]!r} + {pair[1]!r} ({count})")
    print(f"vocabulary written for {args.corpus}")


def pretrain(args):
    seed_everything()
    layer = torch.nn.Linear(8, 8)
    optimizer = torch.optim.SGD(layer.parameters(), lr=args.peak_lr)
    for step in range(args.steps):
        loss = (layer(torch.randn(4, 8)) ** 2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="run.py")
    commands = parser.add_subparsers(dest="command", required=True)
    first = commands.add_parser("tokenize")
    first.add_argument("--corpus", required=True)
    first.add_argument("--vocab-size", type=int, default=1000)
    second = commands.add_parser("pretrain")
    second.add_argument("--corpus", required=True)
    second.add_argument("--steps", type=int, required=True)
    second.add_argument("--schedule", choices=["constant", "linear", "cosine"], default="linear")
    second.add_argument("--peak-lr", type=float, default=3e-4)
    namespace = parser.parse_args()
    {"tokenize": tokenize, "pretrain": pretrain}[namespace.command](namespace)
