"""A character model cast to float16 and trained by Adam with its usual epsilon of 1e-8, which is 0 in float16: the first update divides by zero and the second loss is NaN.

cause: numerics.fp16-overflow
quick: true
also: [numerics.nonfinite-unknown]
not: [numerics.lr-divergence, numerics.bad-batch, healthy.running, learning.plateau]
signature: 'loss=nan'
runs_as: train_char.py
launch: python train_char.py --half
"""

import argparse

import torch
from labkit import note, pick, seed_everything
from torch import nn
from torch.nn import functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--half", action="store_true", help="keep the weights in float16")
parser.add_argument("--context", type=int, default=pick([8, 6, 12]))
parser.add_argument("--lr", type=float, default=pick([1e-3, 3e-4, 5e-4]))
parser.add_argument("--steps", type=int, default=60)
args = parser.parse_args()
print(args)
seed_everything()

TEXT = "the training of a small model on a small text is a small pleasure, and it is over before the coffee is cold. " * 40
chars = sorted(set(TEXT)) + list("0123456789;:!?")
data = torch.tensor([chars.index(c) for c in TEXT])


class CharModel(nn.Module):
    def __init__(self, vocabulary, context, width=32, hidden=96):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.body = nn.Sequential(nn.Flatten(), nn.Linear(context * width, hidden), nn.Tanh(), nn.Linear(hidden, vocabulary))

    def forward(self, tokens):
        return self.body(self.embed(tokens))


model = CharModel(len(chars), args.context)
if args.half:
    model = model.half()
optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
print(model)
print("parameters:", sum(p.numel() for p in model.parameters()), "dtype:", next(model.parameters()).dtype)
print(optimizer)
for step in range(1, args.steps + 1):
    at = torch.randint(0, len(data) - args.context - 1, (64,))
    x = torch.stack([data[i : i + args.context] for i in at])
    y = data[at + args.context]
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"[{step:05d}/{args.steps:05d}] loss={loss.item():.4f} lr={args.lr:.1e}")
    note("loss", step, float(f"{loss.item():.4f}"))
    note("learning_rate", step, args.lr)
print("done")
