"""A residual branch is added with `+=` to the output of a sigmoid gate (or tanh, exp), which backward still needs unchanged.

cause: code.autograd-inplace
also: []
not: [code.autograd-no-grad, code.shape-mismatch, distributed.ddp-marked-ready-twice]
signature: 'RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation'
runs_as: train.py
"""

import torch
import torch.nn as nn
from labkit import pick, seed_everything

seed_everything()


class GatedBlock(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.gate, self.value, self.norm = nn.Linear(dim, dim), nn.Linear(dim, dim), nn.LayerNorm(dim)
        self.act = pick([torch.sigmoid, torch.tanh, torch.exp])

    def forward(self, x):
        g = self.act(self.gate(self.norm(x)))
        g += self.value(x)
        return x + g


dim, layers = pick([(32, 3), (64, 2), (48, 6)])
model = nn.Sequential(nn.Linear(12, dim), *[GatedBlock(dim) for _ in range(layers)], nn.Linear(dim, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
x = torch.randn(1024, 12)
y = x.square().sum(1, keepdim=True)
print("[config]", {"dim": dim, "layers": layers, "optimizer": "adamw", "lr": 3e-4, "batch": 64})
print("[model] %d tensors, %d weights" % (len(list(model.parameters())), sum(p.numel() for p in model.parameters())))
for epoch in range(10):
    for i in range(0, len(x), 64):
        loss = nn.functional.huber_loss(model(x[i:i + 64]), y[i:i + 64])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("[epoch %02d] loss %.4f" % (epoch, loss.item()))
