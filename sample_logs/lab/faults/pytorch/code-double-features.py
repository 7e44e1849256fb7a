"""Features come from NumPy in float64 and meet float32 weights (in an LSTM, a linear layer or a convolution): dtypes do not fit.

cause: code.dtype-mismatch
also: [data.schema]
not: [code.shape-mismatch, numerics.fp16-overflow, code.device-mismatch]
signature: '(RuntimeError|ValueError): .*([Dd]ouble|float64)'
runs_as: forecast.py
launch: python -u forecast.py
"""

import numpy as np
import torch
import torch.nn as nn
from labkit import pick, seed_everything

seed_everything()
WINDOW = pick([24, 48, 12])


class Forecaster(nn.Module):
    def __init__(self, n_features, hidden=32):
        super().__init__()
        kind = pick(["lstm", "linear", "conv"])
        self.kind = kind
        self.encoder = {"lstm": lambda: nn.LSTM(n_features, hidden, batch_first=True), "linear": lambda: nn.Linear(n_features, hidden), "conv": lambda: nn.Conv1d(n_features, hidden, 3, padding=1)}[kind]()
        self.out = nn.Linear(hidden, 1)

    def forward(self, x):
        if self.kind == "lstm":
            h, _ = self.encoder(x)
            return self.out(h[:, -1])
        if self.kind == "conv":
            return self.out(self.encoder(x.transpose(1, 2)).mean(-1))
        return self.out(self.encoder(x).mean(1))


def windows(series):
    x = np.stack([series[i:i + WINDOW] for i in range(len(series) - WINDOW)])
    y = series[WINDOW:, :1]
    return torch.from_numpy(x), torch.from_numpy(y)


t = np.arange(900) / 24
load = np.stack([np.sin(t * 2 * np.pi), np.cos(t * 2 * np.pi), np.random.randn(900) * 0.1 + t * 0.01], axis=1)
load = (load - load.mean(0)) / load.std(0)
X, Y = windows(load)
print("=" * 60)
print(f"load forecasting | window {WINDOW} | {len(X)} windows | {X.shape[-1]} features")
print(f"X: {X.shape} {X.dtype} min {X.min():.2f} max {X.max():.2f}")
print(f"Y: {Y.shape} {Y.dtype}")
net = Forecaster(X.shape[-1])
print(net)
print("=" * 60)
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(20):
    total = 0.0
    for i in range(0, len(X) - 100, 64):
        opt.zero_grad()
        pred = net(X[i:i + 64])
        loss = ((pred - Y[i:i + 64]) ** 2).mean()
        loss.backward()
        opt.step()
        total += loss.item()
    print(f"Epoch {epoch:3d}  mse {total / 13:.5f}")
