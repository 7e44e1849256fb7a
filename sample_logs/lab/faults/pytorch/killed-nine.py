"""SIGKILL from outside while the memory stands still at a small share of the limit: nothing in the log tells who sent it.

cause: scheduler.terminated
also: [unknown.no-cause-shown, memory.host-oom]
not: [memory.cuda-oom, scheduler.preempted, hang.stalled, code.native-crash]
signature: 'Killed +python'
runs_as: pretrain.py
launch: |
  python pretrain.py &
  until [ -e ckpt/step_200.pt ]; do sleep 0.1; done
  kill -KILL $!
  wait $!
  exit $?
note: The lab sent the signal. In a log like this an expert thinks of the OOM killer first, but the memory that is printed speaks against it.
"""

import os
import time

import psutil
import torch
from labkit import pick, seed_everything

seed_everything()
os.makedirs("ckpt", exist_ok=True)
width = pick([32, 48, 24])
embedding = torch.nn.Embedding(200, width)
mixer = torch.nn.Conv1d(width, width, 3, padding=1)
head = torch.nn.Linear(width, 200)
parameters = [p for m in (embedding, mixer, head) for p in m.parameters()]
optimizer = torch.optim.AdamW(parameters, lr=2e-3)
available = psutil.virtual_memory().available / 2**30
print(f"host memory available: {available:.1f} GiB of {psutil.virtual_memory().total / 2**30:.1f} GiB")
tick = time.time()
for step in range(1, 100001):
    tokens = (torch.arange(24) + torch.randint(0, 200, (8, 1))) % 200
    masked = tokens.masked_fill(torch.rand(tokens.shape) < 0.2, 0)
    loss = torch.nn.functional.cross_entropy(head(mixer(embedding(masked).transpose(1, 2)).transpose(1, 2)).flatten(0, 1), tokens.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    time.sleep(0.005)
    if step % 20 == 0:
        speed, tick = 20 / (time.time() - tick), time.time()
        print(f"step {step:>6} | loss {loss.item():.3f} | {speed:.1f} steps/s | rss {psutil.Process().memory_info().rss / 2**30:.2f} GiB")
    if step % 100 == 0:
        torch.save(head.state_dict(), f"ckpt/step_{step}.pt")
