"""A colleague saved the whole model object; loading it with today's default fails on its classes.

cause: checkpoint.unsafe-load
also: []
not: [checkpoint.corrupt, checkpoint.key-mismatch, environment.missing-package]
signature: 'Weights only load failed'
runs_as: predict.py
launch: |
  python -c "
  import os, torch
  from torch import nn
  torch.manual_seed(1)
  kinds = [nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3)), nn.GRU(4, 8), nn.TransformerEncoderLayer(8, 2)]
  torch.save(kinds[int(os.environ['LAB_SEED']) % 3], 'model_final.pt')"
  python predict.py model_final.pt
"""

import sys
import warnings

import torch
from labkit import pick, seed_everything

warnings.simplefilter("default")
seed_everything()


def load(path):
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:
        print(f"could not load {path}: {type(error).__name__}: {error}", file=sys.stderr)
        raise SystemExit(2) from None


print("torch", torch.__version__)
print("device cpu, batch size", pick([32, 1, 8]))
model = load(sys.argv[1])
model.eval()
print(model(torch.randn(pick([32, 1, 8]), 4)))
