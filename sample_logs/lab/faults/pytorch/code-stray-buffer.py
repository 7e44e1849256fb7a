"""Weights were given storage after a build on the meta device, a table that is a plain attribute was not moved with them; training starts when it is used.

cause: code.device-mismatch
also: [code.user-exception]
not: [cuda.not-available, numerics.corrupt-weights]
signature: 'RuntimeError: .*(devices|device meta|meta!)|NotImplementedError: .*meta'
runs_as: run.py
launch: python run.py
"""

import torch
import torch.nn as nn
import torch.nn.functional as F
from labkit import note, pick, seed_everything

seed_everything()
DIM = pick([32, 48, 64])
WARMUP = pick([12, 5, 20])


class Rotary(nn.Module):
    def __init__(self, dim, length):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(dim))
        self.table = torch.arange(length)[:, None] / torch.pow(torch.tensor(1e4), torch.arange(dim)[None] / dim)

    def forward(self, x, positions):
        return x * self.scale + torch.sin(self.table[: x.size(1)]) if positions else x * self.scale


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.rotary = nn.Embedding(200, DIM), Rotary(DIM, 64)
        self.mix, self.out = nn.Linear(DIM, DIM), nn.Linear(DIM, 9)

    def forward(self, tokens, positions):
        return self.out(F.gelu(self.mix(self.rotary(self.embed(tokens), positions))))


with torch.device("meta"):
    model = Tagger()
model.to_empty(device="cpu")
for p in model.parameters():
    nn.init.normal_(p, std=0.02)
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
print("placement:", {name: str(p.device) for name, p in model.named_parameters()}, {"rotary.table": str(model.rotary.table.device)})
print(f"position encoding is switched on after {WARMUP} steps")
for step in range(1, 41):
    tokens = torch.randint(0, 200, (8, 24))
    logits = model(tokens, positions=step > WARMUP)
    loss = F.cross_entropy(logits.flatten(0, 1), (tokens % 9).flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
    print({"step": step, "loss": round(loss.item(), 5), "lr": 1e-3})
    note("loss", step, round(loss.item(), 5))
    note("learning_rate", step, 1e-3)
