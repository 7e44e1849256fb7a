"""The rate is 1e-9, some five orders of magnitude below what the model needs: the loss does not move over the whole run.

cause: learning.plateau
quick: true
also: []
not: [healthy.completed, healthy.running, numerics.lr-divergence, numerics.loss-spike]
signature: 'lr [0-9.]+e-(09|10|8|08)'
first_failure: '^iter +[0-9]+: '
runs_as: pretrain_tiny.py
"""

import time

import torch
from labkit import note, pick, seed_everything
from torch import nn

seed_everything()
learning_rate = pick([1e-9, 5e-10, 3e-9])
block, vocabulary = 32, pick([65, 96, 50])
print(f"learning_rate={learning_rate} block={block} vocabulary={vocabulary} dropout=0.0")
tokens = (torch.arange(20000) ** 2 + 3 * torch.arange(20000)) % vocabulary


class Mixer(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.embed, self.mix = nn.Embedding(vocabulary, width), nn.GRU(width, width, batch_first=True)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, x):
        return self.head(self.mix(self.embed(x))[0])


model = Mixer()
print(f"number of parameters: {sum(p.numel() for p in model.parameters()) / 1e3:.1f}K")
optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate, betas=(0.9, 0.95), weight_decay=0.1)
for it in range(161):
    started = time.time()
    at = torch.randint(0, len(tokens) - block - 1, (16,))
    x, y = torch.stack([tokens[i : i + block] for i in at]), torch.stack([tokens[i + 1 : i + block + 1] for i in at])
    loss = nn.functional.cross_entropy(model(x).transpose(1, 2), y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    if it % 4 == 0:
        print(f"iter {it:4d}: loss {loss.item():.4f}, norm {norm.item():.4f}, lr {learning_rate:.2e}, time {(time.time() - started) * 1e3:.1f}ms")
        note("loss", it, float(f"{loss.item():.4f}"))
        note("grad_norm", it, float(f"{norm.item():.4f}"))
        note("learning_rate", it, float(f"{learning_rate:.2e}"))
