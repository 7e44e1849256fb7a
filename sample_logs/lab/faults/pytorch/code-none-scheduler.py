"""An optional part of the set-up is None in this configuration and used all the same.

cause: code.user-exception
also: []
not: [environment.version-incompatible, config.arguments, data.schema]
signature: "^AttributeError: 'NoneType' object has no attribute"
runs_as: tools/train.py
launch: PYTHONPATH=$PYTHONPATH:. python tools/train.py --config configs/base.yaml --seed 3407
"""

import argparse
import time
from pathlib import Path

import torch
from labkit import note, pick, seed_everything
from torch import nn
from torch.optim import lr_scheduler

parser = argparse.ArgumentParser()
parser.add_argument("--config", type=Path)
parser.add_argument("--seed", type=int)
args = parser.parse_args()
seed_everything()


class Runner:
    def __init__(self, kind):
        self.net = nn.Sequential(nn.Linear(5, 20), nn.SiLU(), nn.Linear(20, 3))
        self.optimizer = torch.optim.AdamW(self.net.parameters(), lr=2e-3)
        self.scheduler = lr_scheduler.StepLR(self.optimizer, 10) if kind == "step" else None
        self.writer = None if kind == "step" else []
        self.iteration = 0

    def train_epoch(self, data):
        for x, y in data:
            began = time.time()
            loss = nn.functional.cross_entropy(self.net(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.iteration += 1
            if self.iteration % 10 == 0:
                print(f"[train] iter: {self.iteration:>5}  loss: {loss.item():.4f}  time: {time.time() - began:.3f}")
                note("loss", self.iteration, round(loss.item(), 4))

    def after_epoch(self):
        rate = self.scheduler.get_last_lr()[0]
        self.writer.append({"iter": self.iteration, "lr": rate})
        print(f"[train] lr is now {rate:.2e}")


x = torch.randn(1600, 5)
pairs = list(zip(x.split(pick([32, 40, 64])), x[:, :3].argmax(1).split(pick([32, 40, 64]))))
runner = Runner(pick(["constant", "step", "constant"]))
print(f"config {args.config} | seed {args.seed} | iterations per epoch {len(pairs)}")
for epoch in range(4):
    runner.train_epoch(pairs)
    runner.after_epoch()
