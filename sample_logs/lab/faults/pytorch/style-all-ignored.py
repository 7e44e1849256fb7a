"""Prompts are longer than the window, so every label of some batches is -100: the mean over nothing is NaN, one batch in five, and the weights stay well.

cause: numerics.labels-all-masked
also: [numerics.nonfinite-unknown]
not: [numerics.lr-divergence, numerics.fp16-overflow, numerics.bad-batch]
signature: 'nan'
runs_as: sft.py
"""
import torch
from labkit import note, pick, seed_everything
from torch import nn

seed_everything()
emb, head = nn.Embedding(64, 32), nn.Linear(32, 64)
opt = torch.optim.AdamW([*emb.parameters(), *head.parameters()], 5e-3)
window, every = 24, pick([5, 4, 6])
for step in range(1, 81):
    prompt = 40 if step % every == 0 else int(torch.randint(4, 18, ()))
    ids = (torch.randint(0, 64, (4, 1)) + 5 * torch.arange(64)) % 64
    ids = ids[:, :window]
    labels = ids.clone()
    labels[:, :prompt] = -100
    kept = int((labels[:, 1:] != -100).sum())
    loss = nn.functional.cross_entropy(head(emb(ids[:, :-1])).flatten(0, 1), labels[:, 1:].flatten(), ignore_index=-100)
    if torch.isfinite(loss):
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(f"{{'loss': {loss.item():.4f}, 'prompt_len': {prompt}, 'target_tokens': {kept}, 'max_length': {window}, 'step': {step}}}")
    note("loss", step, float(f"{loss.item():.4f}"))
