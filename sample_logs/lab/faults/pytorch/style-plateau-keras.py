"""The targets are shuffled against the inputs: the loss stays at ln(8), printed as Keras does.

cause: learning.plateau
also: []
not: [healthy.completed, numerics.lr-divergence, learning.collapse]
signature: ''
outcome: completed
step_basis: ordinal
runs_as: train.py
kept: []
"""
import math
import torch
from labkit import note, pick, seed_everything
from torch import nn

seed_everything()
net = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 8))
opt = torch.optim.Adam(net.parameters(), pick([1e-3, 5e-4, 2e-3]))
x = torch.randn(4000, 20)
y = torch.randint(0, 8, (4000,))
for epoch in range(1, 16):
    print(f"Epoch {epoch}/15")
    x = torch.randn(4000, 20)
    total, hit = 0.0, 0
    for i in range(0, 4000, 100):
        out = net(x[i : i + 100])
        loss = nn.functional.cross_entropy(out, y[i : i + 100])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() / 40
        hit += (out.argmax(1) == y[i : i + 100]).sum().item()
    v = torch.randint(0, 8, (500,))
    out = net(torch.randn(500, 20))
    print(f"40/40 [==============================] - 1s 18ms/step - loss: {total:.4f} - accuracy: {hit / 4000:.4f} - val_loss: {nn.functional.cross_entropy(out, v).item():.4f} - val_accuracy: {(out.argmax(1) == v).float().mean().item():.4f}")
    note("loss", epoch, float(f"{total:.4f}"))
