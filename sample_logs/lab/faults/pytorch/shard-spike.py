"""A language model falls steadily; one shard of the data has another alphabet, the loss jumps to a multiple for some steps and then comes back.

cause: numerics.loss-spike
also: [healthy.completed, numerics.bad-batch]
not: [numerics.lr-divergence, numerics.gradient-explosion, numerics.fp16-overflow, learning.plateau]
signature: 'step +[0-9]{3} .*loss: ([4-9]|1[0-9])[.]'
outcome: completed
runs_as: pretrain.py
note: finite throughout; the run completes.
"""

from datetime import datetime

import torch
from labkit import note, pick, seed_everything
from torch import nn

seed_everything()
VOCABULARY, CONTEXT = 96, 16


def shard(seed, start, stop):
    """A Markov text over the symbols from start to stop."""
    generator = torch.Generator().manual_seed(seed)
    follow = torch.randint(start, stop, (VOCABULARY, 2), generator=generator)
    tokens = [start]
    for _ in range(6000):
        tokens.append(int(follow[tokens[-1], torch.randint(0, 2, (1,), generator=generator)]))
    return torch.tensor(tokens)


ODD = pick([3, 2, 4])
shards = [shard(1, 0, 60)] * ODD + [shard(2, 60, 96)] + [shard(1, 0, 60)] * (6 - ODD)
model = nn.Sequential(nn.Embedding(VOCABULARY, 32), nn.Flatten(), nn.Linear(32 * CONTEXT, 128), nn.GELU(), nn.Linear(128, VOCABULARY))
optimizer = torch.optim.AdamW(model.parameters(), lr=pick([2e-3, 3e-3, 2e-3]), betas=(0.9, 0.95))
print(f"pretraining on {len(shards)} shards, vocabulary {VOCABULARY}, {sum(p.numel() for p in model.parameters())} parameters")
step = 0
for number, tokens in enumerate(shards):
    print(f"{datetime.now():%H:%M:%S} opening shard_{number:04d}.bin ({len(tokens)} tokens)")
    for _ in range(pick([60, 50, 60]) if number != ODD else 8):
        at = torch.randint(0, len(tokens) - CONTEXT, (64,))
        x = torch.stack([tokens[i : i + CONTEXT] for i in at])
        loss = nn.functional.cross_entropy(model(x), tokens[at + CONTEXT])
        optimizer.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        step += 1
        if step % 4 == 0 or number == ODD:
            print(f"{datetime.now():%H:%M:%S} step {step:>4d} | loss: {loss.item():.4f} | norm: {norm.item():.3f} | lr: {optimizer.param_groups[0]['lr']:.1e}")
            note("loss", step, float(f"{loss.item():.4f}"))
            note("grad_norm", step, float(f"{norm.item():.3f}"))
            note("learning_rate", step, float(f"{optimizer.param_groups[0]['lr']:.1e}"))
print("pretraining finished")
