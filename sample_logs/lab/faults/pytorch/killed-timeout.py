"""The job script gives the training a budget of seconds by `timeout`; the trainer says that it got the signal, saves and leaves.

cause: scheduler.time-limit
also: [scheduler.terminated]
not: [hang.stalled, memory.host-oom, healthy.completed, scheduler.preempted]
signature: 'timeout: sending signal TERM to command'
launch: |
  set -o pipefail
  LIMIT=30
  echo "wall time limit: ${LIMIT} s"
  timeout --verbose $LIMIT python train.py
  code=$?
  echo "exit code $code"
  exit $code
seconds: 90
"""

import logging
import signal
import sys
import time

import torch
from labkit import pick, seed_everything

logging.basicConfig(stream=sys.stdout, format="%(asctime)s %(levelname)-8s %(message)s", level=logging.INFO)
stop = False


def on_term(number, frame):
    global stop
    logging.warning(pick(["received signal %d, will stop after this step", "Caught signal %d", "signal %d: finishing the current step before exit"]), number)
    stop = True


signal.signal(signal.SIGTERM, on_term)
seed_everything()
inputs = torch.randn(4000, 40)
targets = (inputs[:, :1] * inputs[:, 1:2]).tanh()
net = torch.nn.Sequential(torch.nn.Linear(40, 256), torch.nn.ReLU(), torch.nn.Linear(256, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
logging.info("samples %d, parameters %d, max_steps 100000", len(inputs), sum(p.numel() for p in net.parameters()))
for step in range(1, 100001):
    rows = torch.randint(0, 4000, (128,))
    loss = torch.nn.functional.mse_loss(net(inputs[rows]), targets[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    time.sleep(0.03)
    if step % 20 == 0:
        logging.info("step %6d  loss %.5f", step, loss.item())
    if stop:
        torch.save(net.state_dict(), "last.pt")
        logging.info("checkpoint written to last.pt at step %d", step)
        sys.exit(143)
