"""A recurrent net with a periodic activation, trained through time without clipping on sequences that grow longer: the gradient is a product over the steps, its norm goes up by orders of magnitude, and both loss and norm are NaN.

cause: numerics.gradient-explosion
also: [numerics.lr-divergence]
not: [numerics.fp16-overflow, numerics.bad-batch, numerics.labels-all-masked, healthy.running]
signature: "'grad_norm': (inf|nan)"
runs_as: adding_problem.py
"""

import torch
from labkit import note, pick, seed_everything
from torch import nn

seed_everything()
START, MORE = pick([(16, 1), (16, 1), (12, 1)])
hyper = {"length": f"{START} +{MORE} per step", "hidden": pick([64, 48, 80]), "lr": pick([1e-3, 1e-3, 5e-4]), "batch": 32, "optimizer": "SGD", "clip": None, "activation": "sin"}
print("hyperparameters", hyper)


class Recurrent(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.inner, self.outer, self.out = nn.Linear(2, hidden), nn.Linear(hidden, hidden, bias=False), nn.Linear(hidden, 1)
        nn.init.orthogonal_(self.outer.weight, gain=pick([1.65, 1.65, 1.6]))

    def forward(self, x):
        h = torch.zeros(len(x), self.outer.in_features)
        for t in range(x.shape[1]):
            h = torch.sin(self.inner(x[:, t]) + self.outer(h))
        return self.out(h)[:, 0]


def batch(size, length):
    values, marks = torch.rand(size, length), torch.zeros(size, length)
    for row in range(size):
        marks[row, torch.randperm(length)[:2]] = 1
    return torch.stack([values, marks], -1), (values * marks).sum(1)


model = Recurrent(hyper["hidden"])
optimizer = torch.optim.SGD(model.parameters(), lr=hyper["lr"])
for step in range(1, 51):
    length = START + MORE * step
    x, y = batch(hyper["batch"], length)
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    norm = torch.stack([p.grad.norm() for p in model.parameters()]).norm()
    optimizer.step()
    print({"step": step, "length": length, "loss": float(f"{loss.item():.5g}"), "grad_norm": float(f"{norm.item():.5g}"), "lr": hyper["lr"]})
    note("loss", step, float(f"{loss.item():.5g}"))
    note("grad_norm", step, float(f"{norm.item():.5g}"))
    note("learning_rate", step, hyper["lr"])
