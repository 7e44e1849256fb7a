"""A run that tells one line per epoch: the loss falls and is NaN from one epoch on. Why (one empty cell in the table) the log does not show.

cause: numerics.nonfinite-unknown
also: [numerics.bad-batch]
not: [numerics.fp16-overflow, numerics.corrupt-weights, numerics.labels-all-masked, healthy.completed]
signature: 'loss: nan'
step_basis: epoch
runs_as: train.py
"""

import torch
from labkit import note, pick, seed_everything
from torch import nn

seed_everything()
rows, arrives = pick([(900, 4), (700, 6), (1200, 3)])
table = torch.randn(rows, 9)
target = table[:, :3].prod(1) + table[:, 4]
# The table grows by a daily file; the last one brings an empty cell.
table[-5, 2] = float("nan")
net = nn.Sequential(nn.Linear(9, 48), nn.SiLU(), nn.Linear(48, 48), nn.SiLU(), nn.Linear(48, 1))
optimizer = torch.optim.AdamW(net.parameters(), lr=pick([2e-3, 1e-3, 3e-3]))
for epoch in range(1, 21):
    known = rows - 50 if epoch < arrives else rows
    losses = []
    for chosen in torch.randperm(known).split(50):
        loss = nn.functional.mse_loss(net(table[chosen])[:, 0], target[chosen])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.detach())
    mean = torch.stack(losses).mean().item()
    print(f"Epoch {epoch:02d}/20 - loss: {mean:.5f}")
    note("loss", epoch, float(f"{mean:.5f}"))
