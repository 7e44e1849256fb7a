"""The training thread waits for a batch that its prefetcher never makes; faulthandler writes all threads' stacks, and nothing moves on.

cause: hang.stalled
also: []
not: [healthy.running, hang.startup, performance.slow, code.user-exception]
signature: ''
ends: time limit
seconds: 25
outcome: stalled
runs_as: train_video.py
kept: []
"""
import faulthandler
import queue
import sys
import threading
import torch
from labkit import pick, seed_everything

seed_everything()
batches = queue.Queue(4)


def prefetch():
    for i in range(pick([60, 45, 75])):
        batches.put(torch.randn(8, 64))
    threading.Event().wait()


threading.Thread(target=prefetch, name="prefetch", daemon=True).start()
faulthandler.dump_traceback_later(10, file=sys.stderr)
net = torch.nn.Linear(64, 64)
opt = torch.optim.AdamW(net.parameters(), 1e-3)
for step in range(1000):
    x = batches.get()
    loss = (net(x) - x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(f"2026-06-14 10:41:{step % 60:02d} | INFO     | __main__:train:64 - step {step} loss {loss.item():.5f}", flush=True)
