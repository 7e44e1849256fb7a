"""Weights are materialised from meta, a table that is a plain attribute is not: tensors of two devices meet.

cause: code.device-mismatch
also: [checkpoint.key-mismatch]
not: [code.dtype-mismatch, numerics.corrupt-weights]
signature: 'Expected all tensors to be on the same device|on device meta|meta tensor|expected device'
runs_as: load_big.py
"""
import torch
import torch.nn as nn
from labkit import pick, seed_everything

seed_everything()


class Model(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.wte, self.head = nn.Embedding(512, d), nn.Linear(d, 512)
        self.freqs = torch.arange(64).float()[:, None] * torch.ones(d)

    def forward(self, ids):
        return self.head(self.wte(ids) * self.freqs[: ids.shape[1]])


with torch.device("meta"):
    model = Model(pick([64, 96, 128]))
state = {name: torch.randn(p.shape) * 0.02 for name, p in model.state_dict().items()}
print(f"loading {len(state)} tensors with assign=True:", model.load_state_dict(state, assign=True))
ids = torch.randint(0, 512, (8, 32))
print("loss", nn.functional.cross_entropy(model(ids).flatten(0, 1), ids.flatten()).item())
