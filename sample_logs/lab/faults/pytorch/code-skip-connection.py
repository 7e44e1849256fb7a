"""A small U-Net whose pooling rounds an odd size down: most crops pass, the first odd one does not fit its skip connection.

cause: code.shape-mismatch
also: []
not: [data.collation, checkpoint.shape-mismatch, data.schema]
signature: 'RuntimeError: Sizes of tensors must match except in dimension 1'
runs_as: segment.py
launch: python segment.py
"""

import time

import torch
from labkit import note, pick, seed_everything
from torch import nn

seed_everything()


def block(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(inplace=True))


class UNet(nn.Module):
    def __init__(self, base):
        super().__init__()
        self.enc1, self.enc2, self.mid = block(1, base), block(base, base * 2), block(base * 2, base * 4)
        self.up2, self.up1 = nn.ConvTranspose2d(base * 4, base * 2, 2, stride=2), nn.ConvTranspose2d(base * 2, base, 2, stride=2)
        self.dec2, self.dec1 = block(base * 4, base * 2), block(base * 2, base)
        self.pool, self.final = nn.MaxPool2d(2), nn.Conv2d(base, 1, 1)

    def forward(self, x):
        e1 = self.enc1(x)
        e2 = self.enc2(self.pool(e1))
        m = self.mid(self.pool(e2))
        d2 = self.dec2(torch.cat([self.up2(m), e2], dim=1))
        d1 = self.dec1(torch.cat([self.up1(d2), e1], dim=1))
        return self.final(d1)


model = UNet(pick([8, 4, 12]))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
odd_at = pick([23, 11, 37])
print(f"UNet with {sum(p.numel() for p in model.parameters())} weights, training on slices of varying size")
start = time.time()
for it in range(1, 61):
    side = 48 if it != odd_at else pick([50, 47, 46])
    x = torch.rand(4, 1, 48, side)
    mask = (x > 0.6).float()
    logits = model(x)
    loss = nn.functional.binary_cross_entropy_with_logits(logits, mask)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"iter {it:4d} | slice {tuple(x.shape[-2:])} | dice-bce {loss.item():.5f} | {time.time() - start:.1f}s")
    note("loss", it, round(loss.item(), 5))
