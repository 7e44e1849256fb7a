"""SIGTERM ends two runs with the same words: in one the output had stopped long before, in the other it went on to the end.

cause: scheduler.time-limit
signature: 'Terminated'
runs_as: train.py
seconds: 60
variants:
  stalled:
    story: The loop waits for a lock that nobody releases; minutes (here seconds, some two hundred steps) later the job's time limit sends SIGTERM, and the script prints when.
    cause: hang.stalled
    also: [scheduler.time-limit]
    not: [healthy.running, scheduler.cancelled, memory.host-oom]
  going:
    story: The run is still going when the job's time limit sends SIGTERM.
    cause: scheduler.time-limit
    also: [scheduler.terminated]
    not: [hang.stalled, memory.host-oom]
launch: |
  python train.py &
  while [ ! -e started ]; do sleep 0.2; done
  sleep 13
  kill -TERM $!
  wait $!
"""

import datetime
import signal
import sys
import threading
import time

import torch
from labkit import VARIANT, note, pick, seed_everything


def stop(number, frame):
    sys.exit(f"{datetime.datetime.now():%Y-%m-%d %H:%M:%S} Terminated: SIGTERM received, the job's time limit is over")


signal.signal(signal.SIGTERM, stop)
seed_everything()
model = torch.nn.Linear(8, 8)
optimizer = torch.optim.SGD(model.parameters(), lr=pick([0.01, 0.02, 0.03]))
lock = threading.Lock()
open("started", "w").close()
step = 0
while True:
    step += 1
    inputs = torch.randn(16, 8)
    loss = (model(inputs) - inputs).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(f"{datetime.datetime.now():%Y-%m-%d %H:%M:%S} step {step} loss {loss.item():.4f}")
    time.sleep(0.02)
    if VARIANT == "stalled" and step == pick([80, 100, 60]):
        lock.acquire()
        lock.acquire()
