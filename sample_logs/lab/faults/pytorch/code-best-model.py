"""A variable is only set inside a branch that was never taken (or a list stayed empty): the script dies of its own error after the last epoch.

cause: code.user-exception
step_basis: epoch
also: []
not: [data.empty, learning.plateau, checkpoint.corrupt]
signature: '^(UnboundLocalError|IndexError|ZeroDivisionError|TypeError): '
runs_as: experiment.py
launch: |
  python experiment.py --name baseline > experiment.log 2>&1
  status=$?
  cat experiment.log
  echo "exit status $status"
  exit $status
"""

import argparse
import math
import statistics

import torch
from labkit import note, pick, seed_everything
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--name")
parser.add_argument("--epochs", type=int, default=pick([8, 6, 10]))
parser.add_argument("--target", type=float, default=0.01)
args = parser.parse_args()


def fit(model, x, y):
    optimizer = torch.optim.Adam(model.parameters(), lr=pick([0.02, 0.01, 0.03]))
    reached = []
    for epoch in range(args.epochs):
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"{args.name}: epoch={epoch} loss={loss.item():.4f} rmse={math.sqrt(loss.item()):.4f}")
        note("loss", epoch, round(loss.item(), 4))
        if loss.item() < args.target:
            best_state = model.state_dict()
            reached.append(epoch)
    kind = pick(["state", "first", "rate"])
    if kind == "state":
        return best_state, reached
    if kind == "first":
        return model.state_dict(), reached[0]
    return model.state_dict(), args.epochs / len(reached)


seed_everything()
print("experiment", args.name, "torch threads", torch.get_num_threads())
x = torch.randn(300, 6)
y = torch.sin(x).sum(1, keepdim=True)
net = nn.Sequential(nn.Linear(6, 24), nn.Tanh(), nn.Linear(24, 1))
state, when = fit(net, x, y)
print(f"{args.name}: reached {args.target} at {when}; mean weight {statistics.fmean(float(v.mean()) for v in state.values()):.4f}")
