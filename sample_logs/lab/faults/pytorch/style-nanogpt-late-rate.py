"""A small GPT whose schedule is counted in wrong units: the warm-up never ends, the rate keeps growing, and the loss turns and climbs to many times its best.

cause: numerics.lr-divergence
also: [numerics.gradient-explosion]
not: [healthy.completed, healthy.running, numerics.bad-batch, learning.collapse]
signature: ''
outcome: completed
runs_as: train.py
"""
import math
import time
import torch
import torch.nn.functional as F
from labkit import note, pick, seed_everything
from torch import nn

seed_everything()
warmup_iters, max_iters, learning_rate = pick([2000, 3000, 2500]), 240, pick([8.0, 12.0, 10.0])
print(f"Overriding: warmup_iters = {warmup_iters}\nOverriding: learning_rate = {learning_rate}")
print("tokens per iteration will be: 1,024")
vocab, d, T = 48, 48, 32


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.n1, self.n2, self.qkv, self.o = nn.LayerNorm(d), nn.LayerNorm(d), nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.mlp = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))

    def forward(self, x):
        q, k, v = self.qkv(self.n1(x)).view(*x.shape[:2], 3, 4, -1).permute(2, 0, 3, 1, 4)
        x = x + self.o(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))
        return x + self.mlp(self.n2(x))


model = nn.Sequential(nn.Embedding(vocab, d), Block(), Block(), nn.LayerNorm(d), nn.Linear(d, vocab))
print("number of parameters: %.2fM" % (sum(p.numel() for p in model.parameters()) / 1e6))
print("num decayed parameter tensors: 12, with 60,000 parameters")
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, betas=(0.9, 0.95))
table = torch.randint(0, vocab, (vocab,))


def batch():
    rows = [torch.randint(0, vocab, (32,))]
    for _ in range(T):
        rows.append(torch.where(torch.rand(32) < 0.8, table[rows[-1]], torch.randint(0, vocab, (32,))))
    ids = torch.stack(rows, 1)
    return ids[:, :-1], ids[:, 1:]


t0 = time.time()
for iter_num in range(max_iters + 1):
    lr = learning_rate * (iter_num + 1) ** 2 / warmup_iters**2 * 40
    for group in optimizer.param_groups:
        group["lr"] = lr
    x, y = batch()
    loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
    if iter_num % 60 == 0:
        with torch.no_grad():
            vx, vy = batch()
            print(f"step {iter_num}: train loss {loss.item():.4f}, val loss {F.cross_entropy(model(vx).flatten(0, 1), vy.flatten()).item():.4f}")
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    t1 = time.time()
    dt, t0 = t1 - t0, t1
    print(f"iter {iter_num}: loss {loss.item():.4f}, time {dt * 1000:.2f}ms, mfu -100.00%")
    note("loss", iter_num, float(f"{loss.item():.4f}"))
