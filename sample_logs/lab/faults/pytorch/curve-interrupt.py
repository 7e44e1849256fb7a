"""Ctrl-C ends two runs with the same words: in one the loss was already NaN and the user gave up, in the other everything was fine.

cause: scheduler.cancelled
signature: '^KeyboardInterrupt'
runs_as: train_unet.py
launch: |
  python train_unet.py
variants:
  ruined:
    story: The loss climbs to NaN because the rate is too high; the user presses Ctrl-C some steps later.
    cause: numerics.lr-divergence
    also: [numerics.gradient-explosion]
    not: [scheduler.cancelled, code.user-exception, healthy.running]
    first_failure: 'loss (inf|nan)'
  fine:
    story: The run is fine; the user presses Ctrl-C.
    cause: scheduler.cancelled
    also: [healthy.running]
    not: [numerics.lr-divergence, code.user-exception, scheduler.terminated]
"""

import os
import signal

import torch
from labkit import VARIANT, note, pick, seed_everything

signal.signal(signal.SIGINT, signal.default_int_handler)
seed_everything()
rate = pick([0.6, 0.75, 0.5]) if VARIANT == "ruined" else pick([0.01, 0.02, 0.015])
print(f"learning rate {rate}, batch size 32, device cpu")
model = torch.nn.Sequential(torch.nn.Conv1d(1, 8, 3, padding=1), torch.nn.ReLU(), torch.nn.Conv1d(8, 1, 3, padding=1))
optimizer = torch.optim.SGD(model.parameters(), lr=rate, momentum=0.9)
signals = torch.randn(400, 1, 40).cumsum(-1) / 6
for step in range(1, 200):
    batch = signals[torch.randint(0, 400, (32,))]
    loss = (model(batch + torch.randn_like(batch)) - batch).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"[train] step {step} loss {loss.item():.5f}")
    note("loss", step, float(f"{loss.item():.5f}"))
    if step == pick([64, 77, 58]):
        os.kill(os.getpid(), signal.SIGINT)
