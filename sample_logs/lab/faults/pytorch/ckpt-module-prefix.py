r"""Weights were saved from a wrapped model (DataParallel, torch.compile), so every key has a prefix that the plain model does not know.

cause: checkpoint.key-mismatch
also: []
not: [checkpoint.shape-mismatch, checkpoint.corrupt, data.schema, code.torch-compile]
signature: 'RuntimeError: Error\(s\) in loading state_dict for'
runs_as: test.py
launch: |
  python test.py --write
  python test.py
"""

import sys

import torch
from labkit import pick, seed_everything
from torch import nn

seed_everything()


class Siamese(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.tower = nn.Sequential(nn.Linear(40, width), nn.PReLU(), nn.LayerNorm(width), nn.Linear(width, 16))
        self.temperature = nn.Parameter(torch.tensor(0.07))

    def forward(self, a, b):
        return nn.functional.cosine_similarity(self.tower(a), self.tower(b)) / self.temperature


model = Siamese(pick([32, 64, 24]))
if "--write" in sys.argv:
    wrapped = pick([nn.DataParallel(model), torch.compile(model, backend="eager"), nn.ModuleDict({"student": model})])
    torch.save(wrapped.state_dict(), "best.pth")
    sys.exit()
print("Siamese network, evaluation of the best checkpoint")
state = torch.load("best.pth")
print(f"best.pth holds {len(state)} tensors, first is {next(iter(state))}")
print(f"the model has {len(model.state_dict())} tensors, first is {next(iter(model.state_dict()))}")
model.load_state_dict(state)
a, b = torch.randn(64, 40), torch.randn(64, 40)
print("mean similarity", model(a, b).mean().item())
