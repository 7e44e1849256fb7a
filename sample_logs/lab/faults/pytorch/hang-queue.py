"""A prefetch thread waits for room in a queue of its own while the trainer waits for that thread: the steps stop, the monitor's lines go on with the step unchanged.

cause: hang.stalled
not: [hang.startup, healthy.running, performance.slow, data.exhausted]
ends: time limit
outcome: stalled
seconds: 45
runs_as: train_policy.py
"""

import logging
import queue
import threading
import time

import psutil
import torch
from labkit import pick, seed_everything

logging.basicConfig(level=logging.INFO, format="%(asctime)s [%(threadName)s] %(message)s")
EVERY = pick([4, 5, 3])


class Monitor(threading.Thread):
    step = 0

    def run(self):
        while True:
            logging.info("heartbeat: step=%d cpu=%.0f%% rss=%.0fMB threads=%d", self.step, psutil.Process().cpu_percent(0.5), psutil.Process().memory_info().rss / 1e6, threading.active_count())
            time.sleep(EVERY)


class Prefetcher(threading.Thread):
    def __init__(self, batches, replies):
        super().__init__(name="prefetch", daemon=True)
        self.batches, self.replies = batches, replies

    def run(self):
        number = 0
        while True:
            self.batches.put(torch.randn(64, 12))
            number += 1
            if number % 3 == 0:
                # Asks for the newest priorities; every answer is one too many where the trainer sends none.
                self.replies.get()


seed_everything()
batches, replies = queue.Queue(maxsize=4), queue.Queue()
monitor = Monitor(name="monitor", daemon=True)
monitor.start()
Prefetcher(batches, replies).start()
net = torch.nn.Sequential(torch.nn.Linear(12, 64), torch.nn.Tanh(), torch.nn.Linear(64, 3))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
updates = pick([97, 61, 83])
logging.info("3 actions, prioritised replay, 5000 updates")
for step in range(1, 5001):
    states = batches.get()
    loss = torch.nn.functional.cross_entropy(net(states), states[:, :3].argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    monitor.step = step
    time.sleep(0.02)
    if step % 3 == 0 and step < updates:
        replies.put(loss.item())
    if step % 4 == 0:
        logging.info("update %d/5000 loss %.4f", step, loss.item())
