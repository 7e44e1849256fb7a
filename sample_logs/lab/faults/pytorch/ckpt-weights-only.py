r"""A checkpoint holds more than tensors (a NumPy number, the argparse namespace, a config class); torch.load refuses it by default.

cause: checkpoint.unsafe-load
also: []
not: [checkpoint.corrupt, code.serialization, environment.version-incompatible]
signature: '_pickle\.UnpicklingError: Weights only load failed'
runs_as: train.py
launch: |
  python train.py --steps 20 --save_every 20
  python train.py --steps 60 --resume out/step20.pt
"""

import argparse
import os

import numpy as np
import torch
from labkit import note, pick, seed_everything

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=100)
parser.add_argument("--save_every", type=int, default=1000)
parser.add_argument("--resume")
parser.add_argument("--lr", type=float, default=pick([0.01, 0.02, 0.005]))
args = parser.parse_args()
seed_everything()


class History:
    def __init__(self):
        self.losses = []


model = torch.nn.Sequential(torch.nn.Linear(6, 32), torch.nn.Softplus(), torch.nn.Linear(32, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
history, first = History(), 0
os.makedirs("out", exist_ok=True)
if args.resume:
    print("=> loading checkpoint '{}'".format(args.resume))
    checkpoint = torch.load(args.resume)
    model.load_state_dict(checkpoint["model"])
    first = checkpoint["step"]
    print("=> loaded checkpoint '{}' (step {})".format(args.resume, first))
for step in range(first + 1, args.steps + 1):
    x = torch.rand(32, 6)
    loss = (model(x) - x.prod(1, keepdim=True)).abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.losses.append(loss.item())
    if step % 5 == 0:
        print("step {} loss {:.4f}".format(step, loss.item()))
        note("loss", step, round(loss.item(), 4))
    if step % args.save_every == 0:
        extra = pick([{"best": np.float64(min(history.losses))}, {"args": args}, {"history": history}])
        torch.save({"model": model.state_dict(), "step": step, **extra}, f"out/step{step}.pt")
        print("saved out/step{}.pt".format(step))
