"""Two healthy runs end with the same sentence: in one the throughput is steady, in the other it falls to a fraction from the middle on.

cause: healthy.completed
runs_as: pretrain_gpt.py
outcome: completed
variants:
  steady:
    story: The throughput is steady and the run ends normally.
    cause: healthy.completed
    also: [healthy.running]
    not: [performance.slow, performance.input-bound]
  slowing:
    story: From the middle of the run on, every step takes nine times as long and the throughput falls to a fraction; the run ends normally.
    cause: performance.slow
    also: [healthy.completed]
    not: [hang.stalled, performance.input-bound]
"""

import time

import torch
from labkit import VARIANT, note, pick, seed_everything

seed_everything()
model = torch.nn.Sequential(torch.nn.Linear(128, 256), torch.nn.GELU(), torch.nn.Linear(256, 128))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
data = torch.randn(64, 128)
for step in range(1, 121):
    begin = time.perf_counter()
    time.sleep(pick([0.02, 0.03, 0.025]) * (9 if VARIANT == "slowing" and step > pick([60, 50, 70]) else 1))     # a device at work
    loss = (model(data) - data.roll(1, 1)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    spent = time.perf_counter() - begin
    print(f"step {step:4d}/120 | loss {loss.item():.4f} | {64 * 16 / spent:,.0f} tokens/s | {spent * 1000:.1f} ms/step")
    note("loss", step, float(f"{loss.item():.4f}"))
print("done: 120 steps")
