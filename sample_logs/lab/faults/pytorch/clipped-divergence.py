"""A nanoGPT-like model whose warm-up leads to a rate a hundred times too high: gradients are clipped to 1, but after a good start the loss climbs all the same, finite and far above its beginning.

cause: numerics.lr-divergence
also: [learning.collapse, numerics.gradient-explosion]
not: [numerics.fp16-overflow, healthy.running, healthy.completed, numerics.bad-batch, numerics.loss-spike]
signature: 'iter [0-9]+: loss ([5-9]|[1-9][0-9]+)[.]'
runs_as: train.py
"""

import time

import torch
from labkit import note, pick, seed_everything
from torch import nn
from torch.nn import functional as F

seed_everything()
# -----------------------------------------------------------------------------
batch_size = 12
block_size = pick([32, 48, 24])
n_layer, n_head, n_embd = 3, 4, 64
learning_rate = pick([2e-1, 3e-1, 2e-1])
warmup_iters = pick([100, 120, 60])
weight_decay = 1e-1
grad_clip = 1.0
max_iters = pick([100, 120, 80])
# -----------------------------------------------------------------------------
config = {k: v for k, v in globals().items() if not k.startswith("_") and isinstance(v, (int, float, bool, str))}
print("Overriding config with config/train_shakespeare_small.py:")
for key, value in config.items():
    print(f"{key} = {value!r}")
text = "First Citizen:\nBefore we proceed any further, hear me speak.\n\nAll:\nSpeak, speak.\n\nFirst Citizen:\nYou are all resolved rather to die than to famish?\n\n" * 30
chars = sorted(set(text))
data = torch.tensor([chars.index(c) for c in text])
print(f"tokens per iteration will be: {batch_size * block_size:,}")
print(f"found vocab_size = {len(chars)} (inside data/shakespeare_char/meta.pkl)")


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(len(chars), n_embd), nn.Embedding(block_size, n_embd)
        layer = nn.TransformerEncoderLayer(n_embd, n_head, 4 * n_embd, dropout=0.0, activation="gelu", batch_first=True, norm_first=True)
        self.h = nn.TransformerEncoder(layer, n_layer, enable_nested_tensor=False)
        self.lm_head = nn.Linear(n_embd, len(chars), bias=False)

    def forward(self, idx):
        mask = nn.Transformer.generate_square_subsequent_mask(idx.shape[1])
        return self.lm_head(self.h(self.wte(idx) + self.wpe(torch.arange(idx.shape[1])), mask=mask, is_causal=True))


model = GPT()
print(f"number of parameters: {sum(p.numel() for p in model.parameters()) / 1e6:.2f}M")
decay = [p for p in model.parameters() if p.dim() >= 2]
nodecay = [p for p in model.parameters() if p.dim() < 2]
print(f"num decayed parameter tensors: {len(decay)}, with {sum(p.numel() for p in decay):,} parameters")
print(f"num non-decayed parameter tensors: {len(nodecay)}, with {sum(p.numel() for p in nodecay):,} parameters")
optimizer = torch.optim.AdamW([{"params": decay, "weight_decay": weight_decay}, {"params": nodecay, "weight_decay": 0.0}], lr=learning_rate, betas=(0.9, 0.95))
t0 = time.time()
for iter_num in range(max_iters + 1):
    lr = learning_rate * min(1.0, (iter_num + 1) / warmup_iters)
    for group in optimizer.param_groups:
        group["lr"] = lr
    ix = torch.randint(len(data) - block_size, (batch_size,))
    X, Y = torch.stack([data[i : i + block_size] for i in ix]), torch.stack([data[i + 1 : i + 1 + block_size] for i in ix])
    logits = model(X)
    loss = F.cross_entropy(logits.view(-1, logits.size(-1)), Y.reshape(-1))
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), grad_clip)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    t1 = time.time()
    dt, t0 = t1 - t0, t1
    print(f"iter {iter_num}: loss {loss.item():.4f}, time {dt * 1000:.2f}ms, mfu {-100 if iter_num < 5 else 0.01:.2f}%")
    note("loss", iter_num, float(f"{loss.item():.4f}"))
