"""After training the whole model object is saved; it holds a lambda, a local class, an open file or a lock, which pickle refuses.

cause: code.serialization
step_basis: epoch
also: [checkpoint.save-failed]
not: [checkpoint.corrupt, io.permission, io.disk-full]
signature: '(PicklingError|AttributeError|TypeError): .*([Pp]ickle|local object)'
runs_as: train_regressor.py
launch: python train_regressor.py --epochs 6
"""

import argparse
import os
import time

import torch
from labkit import note, pick, seed_everything
from torch import nn

cli = argparse.ArgumentParser()
cli.add_argument("--epochs", type=int, default=20)
cli.add_argument("--out", default="checkpoints")
cli = cli.parse_args()
seed_everything()


def build(kind):
    class Scale(nn.Module):
        def forward(self, x):
            return x * 0.5

    net = nn.Sequential(nn.Linear(7, 32), nn.Mish(), Scale() if kind == 0 else nn.Identity(), nn.Linear(32, 1))
    if kind == 1:
        net.log_file = open("model.log", "w")
    if kind == 2:
        net.register_forward_hook(lambda module, args, output: output.clamp(-50, 50))
    return net


net = build(pick([0, 1, 2]))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
x = torch.rand(700, 7)
y = (x ** 2).sum(1, keepdim=True)
os.makedirs(cli.out, exist_ok=True)
for epoch in range(1, cli.epochs + 1):
    began = time.time()
    for i in range(0, 700, 35):
        loss = nn.functional.mse_loss(net(x[i:i + 35]), y[i:i + 35])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"Epoch {epoch}/{cli.epochs} - loss: {loss.item():.5f} - {time.time() - began:.2f}s")
    note("loss", epoch, round(loss.item(), 5))
target = os.path.join(cli.out, "regressor.pt")
print("Training finished, saving to", target)
torch.save(net, target)
print("Saved.")
