"""Perplexity of a causal model, first one text at a time, then in batches padded on the left: the padding rows see no key at all, their softmax is 0/0 and the NaN reaches every token of the row.

cause: numerics.padding-or-mask
also: [numerics.nonfinite-unknown]
not: [numerics.corrupt-weights, numerics.fp16-overflow, numerics.lr-divergence, data.empty]
signature: 'loss nan'
runs_as: evaluate.py
launch: python evaluate.py --batch-size 1 && python evaluate.py --batch-size 4
step_basis: ordinal
"""

import argparse
import math

import torch
from labkit import note, pick, seed_everything
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, required=True)
parser.add_argument("--padding-side", default="left", choices=["left", "right"])
args = parser.parse_args()
seed_everything()
PAD, WIDTH = 0, pick([48, 64, 32])


class Attention(nn.Module):
    def __init__(self, width, heads=4):
        super().__init__()
        self.heads, self.qkv, self.proj, self.norm = heads, nn.Linear(width, 3 * width), nn.Linear(width, width), nn.LayerNorm(width)

    def forward(self, x, mask):
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in self.qkv(self.norm(x)).chunk(3, -1))
        scores = (q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])).masked_fill(~mask, float("-inf"))
        return x + self.proj((scores.softmax(-1) @ v).transpose(1, 2).flatten(-2))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.layers, self.head = nn.Embedding(200, WIDTH), nn.ModuleList(Attention(WIDTH) for _ in range(3)), nn.Linear(WIDTH, 200)

    def forward(self, tokens, attention_mask):
        length = tokens.shape[1]
        mask = torch.ones(length, length, dtype=torch.bool).tril()[None, None] & attention_mask[:, None, None, :]
        x = self.embed(tokens)
        for layer in self.layers:
            x = layer(x, mask)
        return self.head(x)


model = Model().eval()
texts = [torch.randint(1, 200, (length,)) for length in pick([[20] * 4 + [14, 9, 20, 17] + [12] * 4 + [18, 7, 11, 20], [15] * 8 + [15, 11, 6, 13] + [9, 9, 8, 9], [25] * 4 + [25, 8, 19, 22] + [13, 21, 10, 17]])]
print(f"evaluating {len(texts)} texts, batch size {args.batch_size}, padding side {args.padding_side}, attention eager, dtype {model.head.weight.dtype}")
total = count = 0
for number, start in enumerate(range(0, len(texts), args.batch_size)):
    chosen = texts[start : start + args.batch_size]
    width = max(len(text) for text in chosen)
    tokens = torch.full((len(chosen), width), PAD)
    for row, text in enumerate(chosen):
        tokens[row, width - len(text) :] = text
    attention_mask = tokens != PAD
    with torch.no_grad():
        logits = model(tokens, attention_mask)
    targets = tokens[:, 1:].masked_fill(~attention_mask[:, :-1], -100)
    loss = nn.functional.cross_entropy(logits[:, :-1].transpose(1, 2), targets)
    total, count = total + loss.item(), count + 1
    print(f"  batch {number}: lengths {[len(text) for text in chosen]} padded tokens {(~attention_mask).sum().item()} loss {loss.item():.4f}")
    note("loss", None, float(f"{loss.item():.4f}"))
print(f"batch size {args.batch_size}: mean loss {total / count:.4f}, perplexity {math.exp(total / count):.2f}")
