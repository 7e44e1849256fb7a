"""The shell says `Killed` twice: once the printed memory had grown by the same amount every step, once it was flat.

cause: memory.host-oom
signature: 'Killed'
runs_as: extract.py
variants:
  growing:
    story: Every step keeps its outputs; the resident memory grows steadily until the cgroup's limit, and the kernel kills the process.
    needs: [cgroup]
    memory_mib: 700
    cause: memory.host-oom
    also: []
    not: [scheduler.terminated, memory.cuda-oom]
  flat:
    story: The resident memory is flat; somebody sends SIGKILL from outside.
    cause: unknown.no-cause-shown
    also: [scheduler.terminated, scheduler.cancelled]
    not: [memory.cuda-oom, memory.cuda-leak]
"""

import os
import signal

import psutil
import torch
from labkit import VARIANT, note, pick, seed_everything

seed_everything()
model = torch.nn.Sequential(torch.nn.Linear(512, 512), torch.nn.ReLU(), torch.nn.Linear(512, 512))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
process, kept = psutil.Process(), []
for step in range(1, 400):
    inputs = torch.randn(pick([4000, 6000, 5000]), 512)
    loss = (model(inputs) - inputs).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if VARIANT == "growing":
        kept.append(inputs)
    print(f"step {step} | loss {loss.item():.4f} | rss {process.memory_info().rss / 2**20:.0f} MiB")
    note("loss", step, float(f"{loss.item():.4f}"))
    if VARIANT == "flat" and step == pick([48, 61, 55]):
        os.kill(os.getpid(), signal.SIGKILL)
