"""The model is built on the meta device to save memory and never materialised; the first batch on the CPU does not fit.

cause: code.device-mismatch
also: [checkpoint.key-mismatch, code.user-exception]
not: [cuda.not-available, numerics.corrupt-weights, distributed.sharding]
signature: 'RuntimeError: .*(device meta|meta!|meta and cpu|cpu and meta)'
runs_as: finetune.py
launch: python finetune.py
"""

import torch
from labkit import pick, seed_everything
from torch import nn

seed_everything()
hidden, depth = pick([(64, 4), (32, 8), (96, 2)])
print(f"building encoder: hidden={hidden} depth={depth}")
with torch.device("meta"):
    backbone = nn.Sequential(*[nn.Sequential(nn.Linear(hidden, hidden), nn.LayerNorm(hidden), nn.SiLU()) for _ in range(depth)])
head = nn.Linear(hidden, 6)
print("parameters:", sum(p.numel() for p in backbone.parameters()), "+", sum(p.numel() for p in head.parameters()))
for name, p in list(backbone.named_parameters())[:3]:
    print(f"  backbone.{name:<12} {tuple(p.shape)!s:<12} {p.dtype} {p.device}")
for name, p in head.named_parameters():
    print(f"  head.{name:<16} {tuple(p.shape)!s:<12} {p.dtype} {p.device}")
optimizer = torch.optim.AdamW([{"params": backbone.parameters(), "lr": 1e-5}, {"params": head.parameters(), "lr": 1e-3}])
x, y = torch.randn(256, hidden), torch.randint(0, 6, (256,))
print(f"inputs on {x.device}, targets on {y.device}")
for epoch in range(5):
    for i in range(0, 256, 32):
        loss = nn.functional.cross_entropy(head(backbone(x[i:i + 32])), y[i:i + 32])
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    print(f"epoch {epoch}: {loss.item():.4f}")
