"""Small autoregressive model of sine waves, data parallel over two nodes."""

import os
import time
from datetime import timedelta

import prettyconfig
import torch
import torch.distributed as dist
from labkit import SEED, pick
from torch import nn

config = {"lr": pick([1e-3, 3e-3, 5e-4]), "hidden": pick([32, 48, 64]), "steps": 50, "node": os.environ["GROUP_RANK"]}
print(prettyconfig.table(config), flush=True)
started = time.time()
print("joining the process group", flush=True)
dist.init_process_group("gloo", timeout=timedelta(seconds=pick([12, 15, 10])))
print(f"joined after {time.time() - started:.1f}s", flush=True)
torch.manual_seed(SEED)
model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(20, config["hidden"]), nn.ReLU(), nn.Linear(config["hidden"], 1)))
optimizer = torch.optim.Adam(model.parameters(), lr=config["lr"])
for step in range(config["steps"]):
    wave = torch.sin(torch.linspace(0, 6, 21) * (1 + torch.rand(16, 1)))
    loss = nn.functional.mse_loss(model(wave[:, :-1]), wave[:, -1:])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} mse {loss.item():.5f}", flush=True)
