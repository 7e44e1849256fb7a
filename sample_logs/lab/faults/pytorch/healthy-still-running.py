"""A normal run whose log was taken while it was still going on: losses fall, nothing is wrong, the text simply ends.

cause: healthy.running
also: []
not: [hang.stalled, hang.startup, learning.plateau, numerics.lr-divergence]
outcome: running
ends: time limit
seconds: 30
runs_as: main.py
note: the number of lines depends on the machine, so no series is noted.
"""

import itertools
import time

import torch
from labkit import pick, seed_everything
from torch import nn

seed_everything()
x = torch.randn(8192, 64)
y = torch.sin(x[:, :4] @ torch.randn(4, 1))
net = nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 256), nn.GELU(), nn.Linear(256, 1))
optimizer = torch.optim.AdamW(net.parameters(), lr=pick([1e-3, 2e-3, 5e-4]))
print(f"{net}\n{sum(p.numel() for p in net.parameters()):,} parameters, {len(x)} samples, training for 200000 steps")
began, running = time.time(), None
for step in itertools.count(1):
    rows = torch.randint(0, len(x), (128,))
    loss = nn.functional.mse_loss(net(x[rows]), y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    running = loss.item() if running is None else 0.95 * running + 0.05 * loss.item()
    time.sleep(0.02)
    if step % 10 == 0:
        took = time.time() - began
        print(f"| step {step:6d}/200000 | loss {running:.5f} | {step / took:6.1f} steps/s | elapsed {took:5.1f}s | eta {(200000 - step) * took / step / 3600:.2f}h |")
