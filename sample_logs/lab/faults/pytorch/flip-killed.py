"""The shell reports `Killed` and nothing else. The kernel's or the scheduler's record in the dump says who did it.

cause: memory.host-oom
step_basis: epoch
signature: 'Killed'
runs_as: train.py
launch: |
  python train.py
dumps:
  - {name: kernel, file: a100-kernel-oom.env, cause: memory.host-oom, also: [], not: [scheduler.time-limit, scheduler.cancelled], why: "The kernel log in the dump names the killed process."}
  - {name: sacct, file: a100-sacct-timeout.env, cause: scheduler.time-limit, also: [], not: [memory.host-oom, hang.stalled], why: "The accounting in the dump says TIMEOUT."}
note: the process gets a real SIGKILL, from itself; each dump tells who would have sent it.
"""

import os
import signal

import torch
from labkit import note, pick, seed_everything

seed_everything()
model = torch.nn.Sequential(torch.nn.Linear(20, 64), torch.nn.Tanh(), torch.nn.Linear(64, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
inputs = torch.randn(256, 20)
targets = inputs[:, :1] * 2 - inputs[:, 1:2]
for epoch in range(1, 60):
    loss = torch.nn.functional.mse_loss(model(inputs), targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"Epoch {epoch:03d} | train loss: {loss.item():.4f} | lr: 0.003")
    note("loss", epoch, float(f"{loss.item():.4f}"))
    if epoch == pick([37, 29, 44]):
        os.kill(os.getpid(), signal.SIGKILL)
