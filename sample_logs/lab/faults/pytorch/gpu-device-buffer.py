"""A table of the model is a plain attribute, so `.cuda()` leaves it on the host.

cause: code.device-mismatch
also: []
not: [memory.cuda-oom, code.dtype-mismatch]
signature: 'Expected all tensors to be on the same device'
runs_as: train.py
needs: [gpu]
kept: []
seconds: 300
"""

import os
import torch
import torch.nn as nn
from labkit import pick, seed_everything

seed_everything()


class Rotary(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.proj = nn.Linear(d, d)
        self.freqs = torch.outer(torch.arange(256).float(), 1.0 / 10000 ** (torch.arange(0, d) / d))

    def forward(self, x):
        return self.proj(x * self.freqs[: x.shape[1]].cos())


class Model(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.wte, self.rot, self.head = nn.Embedding(512, d), Rotary(d), nn.Linear(d, 512)

    def forward(self, ids):
        return self.head(self.rot(self.wte(ids)))


d = pick([64, 96, 128])
print(f"{'=' * 20} config {'=' * 20}\nmodel.dim: {d}\nmodel.vocab: 512\noptim.lr: 3e-4\nseed: {os.environ.get('SEED', 42)}\n{'=' * 48}")
model = Model(d).cuda()
print("number of parameters: %.2fM" % (sum(p.numel() for p in model.parameters()) / 1e6))
ids = torch.randint(0, 512, (8, 128)).cuda()
logits = model(ids)
print(nn.functional.cross_entropy(logits.view(-1, 512), ids.view(-1)))
