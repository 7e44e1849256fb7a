"""Segment ids out of range in an embedding; the first line that raises is a cuBLAS handle, the assertions stand above it.

cause: cuda.device-side-assert
also: []
not: [cuda.cublas, memory.cuda-oom]
signature: 'Assertion .* failed'
runs_as: run_classifier.py
needs: [gpu]
kept: []
seconds: 300
"""

import torch
from torch import nn
from labkit import pick, seed_everything

seed_everything()
device = "cuda"
words, kinds, position = nn.Embedding(30522, 128).to(device), nn.Embedding(2, 128).to(device), nn.Embedding(512, 128).to(device)
encoder = nn.Linear(128, 128).to(device)
print("06/14/2026 09:12:44 - INFO - __main__ -   ***** Running training *****")
print("06/14/2026 09:12:44 - INFO - __main__ -     Num examples = 3668")
print("06/14/2026 09:12:44 - INFO - __main__ -     Batch size = 32")
ids = torch.randint(0, 30522, (32, 64), device=device)
segments = torch.randint(0, pick([3, 4, 3]), (32, 64), device=device)
hidden = words(ids) + kinds(segments) + position(torch.arange(64, device=device))
out = encoder(hidden)
print("loss", out.pow(2).mean().item())
