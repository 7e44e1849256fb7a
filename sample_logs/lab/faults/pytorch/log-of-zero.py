"""A hand-written cross entropy takes the logarithm of a sigmoid without an epsilon: when the model becomes sure, a probability is exactly 0 or 1 and 0 * log(0) makes the loss NaN.

cause: numerics.unstable-op
also: [numerics.nonfinite-unknown]
not: [numerics.lr-divergence, numerics.fp16-overflow, numerics.corrupt-weights, numerics.labels-all-masked]
signature: 'loss (inf|nan)'
runs_as: train_fraud.py
"""

import torch
from labkit import note, pick, seed_everything
from torch import nn

seed_everything()
x = torch.cat([torch.randn(800, 12) - 2.5, torch.randn(200, 12) + 2.5]) * pick([3.0, 3.5, 4.0])
y = torch.cat([torch.zeros(800), torch.ones(200)])


class Focal(nn.Module):
    """Focal loss, -(1-p)^g log p."""

    def __init__(self, gamma):
        super().__init__()
        self.gamma = gamma

    def forward(self, p, target):
        positive = target * (1 - p) ** self.gamma * torch.log(p)
        negative = (1 - target) * p**self.gamma * torch.log(1 - p)
        return -(positive + negative).mean()


model = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 1))
criterion = Focal(pick([0.5, 1.0, 0.7]))
optimizer = torch.optim.Adam(model.parameters(), lr=8e-3)
print(model)
print(f"{len(x)} rows, {y.mean().item():.1%} positive, loss Focal(gamma={criterion.gamma}) on probabilities")
step = 0
for epoch in range(1, 9):
    for rows in torch.randperm(len(x)).split(100):
        step += 1
        p = torch.sigmoid(model(x[rows])[:, 0])
        loss = criterion(p, y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"epoch {epoch} step {step:3d} loss {loss.item():.4e} p in [{p.min().item():.3e}, {p.max().item():.9g}]")
        note("loss", step, float(f"{loss.item():.4e}"))
