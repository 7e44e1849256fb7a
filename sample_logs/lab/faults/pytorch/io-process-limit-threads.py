"""Each step starts a thread for an asynchronous log write that never ends; the account's limit of processes and threads is reached.

cause: io.file-limit
also: [code.user-exception]
not: [memory.host-oom, memory.cuda-leak, hang.stalled]
signature: "RuntimeError: can't start new thread"
runs_as: online_learning.py
launch: |
  setpriv --reuid $((10000 + $$)) --inh-caps +dac_override --ambient-caps +dac_override bash -c 'ulimit -u 40; ulimit -a | grep processes; python online_learning.py'
needs: [root]
"""

import threading
import time

import torch
from labkit import note, pick, seed_everything

seed_everything()
every = pick([1, 2, 3])
events = threading.Event()


def upload(record):
    events.wait()
    time.sleep(record["step"])


weights = torch.zeros(12, requires_grad=True)
truth = torch.randn(12)
print("online logistic regression, metrics are uploaded in the background every", every, "steps")
for step in range(1, 501):
    x = torch.randn(12)
    y = (x @ truth > 0).float()
    loss = torch.nn.functional.binary_cross_entropy_with_logits(x @ weights, y)
    loss.backward()
    with torch.no_grad():
        weights -= 0.5 * weights.grad
        weights.grad = None
    print(f"t={step} logloss={loss.item():.4f} threads={threading.active_count()}")
    note("loss", step, round(loss.item(), 4))
    if step % every == 0:
        threading.Thread(target=upload, args=({"step": step, "logloss": loss.item()},), daemon=True).start()
