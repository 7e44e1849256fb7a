"""Every step is compared with all that a memory bank has gathered, and nobody trims the bank: the run goes on, but at a fraction of its first speed.

cause: performance.slow
also: [healthy.running, healthy.completed]
not: [hang.stalled, performance.input-bound, learning.plateau]
outcome: completed
seconds: 300
"""

import math
import time

import torch
from labkit import note, pick, seed_everything

seed_everything()
PER_STEP = pick([200, 160, 240])
encoder = torch.nn.Linear(48, 128, bias=False)
optimizer = torch.optim.SGD(encoder.parameters(), lr=0.1)
bank = torch.empty(0, 128)
print("start of training, 240 steps")
since = time.perf_counter()
for step in range(1, 241):
    x = torch.randn(64, 48)
    a, b = (torch.nn.functional.normalize(encoder(x + 0.1 * torch.randn_like(x)), dim=1) for _ in range(2))
    keys = torch.cat([b.detach(), bank])
    loss = torch.nn.functional.cross_entropy(a @ keys.T / 0.2, torch.arange(64)) - math.log(len(keys))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        more = torch.nn.functional.normalize(encoder(torch.randn(PER_STEP, 48)), dim=1)
    bank = torch.cat([bank, more])
    if step % 8 == 0:
        spent, since = time.perf_counter() - since, time.perf_counter()
        print(f"step {step:3d}/240  loss {loss.item():.4f}  {spent / 8 * 1000:8.1f} ms/step  {64 * 8 / spent:9.1f} samples/s")
        note("loss", step, float(f"{loss.item():.4f}"))
print("done")
