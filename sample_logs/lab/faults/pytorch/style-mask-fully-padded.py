"""An additive mask of -inf over a sample that is all padding: NaN appears with the first such batch, and only with batches above one.

cause: numerics.padding-or-mask
also: [numerics.bad-batch, numerics.nonfinite-unknown, numerics.unstable-op]
not: [numerics.lr-divergence, numerics.fp16-overflow]
signature: 'nan'
runs_as: ner.py
"""
import torch
from labkit import note, pick, seed_everything
from torch import nn

seed_everything()
emb, qkv, head = nn.Embedding(300, 48, padding_idx=0), nn.Linear(48, 144), nn.Linear(48, 5)
opt = torch.optim.AdamW([*emb.parameters(), *qkv.parameters(), *head.parameters()], 2e-3)
at = pick([57, 42, 75])
for step in range(1, 101):
    n = torch.randint(2, 16, (8,))
    if step == at:
        n[3] = 0
    ids = torch.randint(1, 300, (8, 16)) * (torch.arange(16) < n[:, None])
    mask = torch.zeros(8, 1, 16).masked_fill((ids == 0)[:, None], float("-inf"))
    q, k, v = qkv(emb(ids)).chunk(3, -1)
    h = torch.softmax(q @ k.transpose(1, 2) / 7 + mask, -1) @ v
    loss = nn.functional.cross_entropy(head(h).flatten(0, 1), (ids % 5).flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(f"Train step {step}: loss={loss.item():.6f} tokens={int(n.sum())} fully_masked_rows={int((n == 0).sum())} padding_side=right")
    note("loss", step, float(f"{loss.item():.6f}"))
