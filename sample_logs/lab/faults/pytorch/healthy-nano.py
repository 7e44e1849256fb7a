"""A small language model trained to its end with evaluations and checkpoints: nothing is wrong.

cause: healthy.completed
quick: true
also: [healthy.running]
not: [numerics.lr-divergence, numerics.loss-spike, learning.plateau, hang.stalled]
outcome: completed
runs_as: train.py
"""

import math
import os
import time

import torch
from labkit import note, pick, seed_everything
from torch import nn
from torch.nn import functional as F

seed_everything()
out_dir = "out-char"
eval_interval, eval_iters, log_interval = 50, 5, 5
batch_size, block_size = 16, pick([32, 24, 40])
learning_rate, min_lr, warmup_iters, max_iters = pick([3e-3, 2e-3, 4e-3]), 3e-4, 20, 250
text = ("To be, or not to be, that is the question:\nWhether 'tis nobler in the mind to suffer\nThe slings and arrows of outrageous fortune,\n"
        "Or to take arms against a sea of troubles\nAnd by opposing end them. To die: to sleep;\nNo more; and by a sleep to say we end\n") * 12
chars = sorted(set(text))
data = torch.tensor([chars.index(c) for c in text])
splits = {"train": data[: int(0.9 * len(data))], "val": data[int(0.9 * len(data)) :]}


class Model(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.tokens, self.places = nn.Embedding(len(chars), width), nn.Embedding(block_size, width)
        self.body = nn.TransformerEncoder(nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=0.0, batch_first=True, norm_first=True), 2, enable_nested_tensor=False)
        self.head = nn.Linear(width, len(chars))

    def forward(self, x):
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1])
        return self.head(self.body(self.tokens(x) + self.places(torch.arange(x.shape[1])), mask=mask, is_causal=True))


def get_batch(split):
    source = splits[split]
    ix = torch.randint(len(source) - block_size - 1, (batch_size,))
    return torch.stack([source[i : i + block_size] for i in ix]), torch.stack([source[i + 1 : i + 1 + block_size] for i in ix])


@torch.no_grad()
def estimate_loss(model):
    model.eval()
    out = {}
    for split in splits:
        out[split] = sum(F.cross_entropy(model(x).transpose(1, 2), y).item() for x, y in (get_batch(split) for _ in range(eval_iters))) / eval_iters
    model.train()
    return out


model = Model()
print(f"training for {max_iters} iterations, learning_rate {learning_rate}, min_lr {min_lr}, warmup_iters {warmup_iters}")
print(f"tokens per iteration will be: {batch_size * block_size:,}")
print(f"number of parameters: {sum(p.numel() for p in model.parameters()) / 1e6:.2f}M")
optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate, betas=(0.9, 0.99), weight_decay=0.1)
os.makedirs(out_dir, exist_ok=True)
best, t0 = 1e9, time.time()
for it in range(max_iters + 1):
    lr = learning_rate * (it + 1) / warmup_iters if it < warmup_iters else min_lr + 0.5 * (1 + math.cos(math.pi * (it - warmup_iters) / (max_iters - warmup_iters))) * (learning_rate - min_lr)
    for group in optimizer.param_groups:
        group["lr"] = lr
    if it % eval_interval == 0:
        losses = estimate_loss(model)
        print(f"step {it}: train loss {losses['train']:.4f}, val loss {losses['val']:.4f}")
        note("eval_loss", it, float(f"{losses['val']:.4f}"))
        if losses["val"] < best and it:
            best = losses["val"]
            print(f"saving checkpoint to {out_dir}")
            torch.save({"model": model.state_dict(), "iter_num": it, "best_val_loss": best}, os.path.join(out_dir, "ckpt.pt"))
    X, Y = get_batch("train")
    loss = F.cross_entropy(model(X).transpose(1, 2), Y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    t1 = time.time()
    dt, t0 = t1 - t0, t1
    if it % log_interval == 0:
        print(f"iter {it}: loss {loss.item():.4f}, time {dt * 1000:.2f}ms, lr {lr:.3e}")
        note("loss", it, float(f"{loss.item():.4f}"))
        note("learning_rate", it, float(f"{lr:.3e}"))
