"""A supervisor stops the job with SIGTERM; the program's handler turns it into an exception, whose traceback says no more than the number.

cause: scheduler.terminated
not: [scheduler.preempted, memory.host-oom, code.user-exception, scheduler.time-limit]
signature: '(Terminated|SystemExit|Stopped|Interrupted).*(15|SIGTERM)'
runs_as: train_ranker.py
launch: |
  python train_ranker.py &
  child=$!
  until [ -e halfway ]; do sleep 0.1; done
  kill $child
  wait $child
  echo "worker returned $?"
seconds: 90
"""

import json
import signal
import sys
import time

import torch
from labkit import pick, seed_everything

STYLE = pick(["Terminated: signal 15", "Stopped by SIGTERM", "Interrupted (SIGTERM, 15)"])


class Stop(BaseException):
    pass


def handle(number, frame):
    raise Stop(STYLE)


def main():
    seed_everything()
    scorer = torch.nn.Sequential(torch.nn.Linear(30, 60), torch.nn.ReLU(), torch.nn.Linear(60, 1))
    optimizer = torch.optim.Adagrad(scorer.parameters(), lr=0.02)
    weights = torch.randn(30)
    for step in range(1, 20001):
        better, worse = torch.randn(2, 64, 30)
        swap = better @ weights < worse @ weights
        better[swap], worse[swap] = worse[swap], better[swap].clone()
        loss = torch.nn.functional.softplus(scorer(worse) - scorer(better)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(json.dumps({"step": step, "pairwise_loss": round(loss.item(), 5), "time": round(time.time(), 2)}), file=sys.stderr)
        if step == 150:
            open("halfway", "w").close()
        time.sleep(0.01)


signal.signal(signal.SIGTERM, handle)
main()
