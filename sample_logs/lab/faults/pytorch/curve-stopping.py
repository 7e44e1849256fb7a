"""The script's own guard stops at a NaN loss with the same words twice: once after a run-up, once out of a calm curve at one batch.

cause: numerics.lr-divergence
signature: 'Loss is (nan|inf), stopping training'
runs_as: main_pretrain.py
step_basis: epoch
variants:
  runup:
    story: Without warm-up the rate is too high; the loss climbs step after step, and the script's guard stops at inf or NaN.
    cause: numerics.lr-divergence
    also: [numerics.gradient-explosion]
    not: [numerics.bad-batch, code.user-exception]
  blue:
    story: One sample of the data holds NaN; the loss is calm before, and the script's guard stops at that batch.
    cause: numerics.bad-batch
    also: [numerics.nonfinite-unknown]
    not: [numerics.lr-divergence, numerics.gradient-explosion, numerics.fp16-overflow, code.user-exception]
"""

import math
import sys

import torch
from labkit import VARIANT, note, pick, seed_everything

seed_everything()
rate = pick([0.034, 0.04, 0.037]) if VARIANT == "runup" else pick([1e-3, 2e-3, 5e-4])
print(f"Namespace(batch_size=16, epochs=4, blr={rate}, precision='fp32', dataset='patches.npz', warmup_epochs=0)")
data = torch.randn(800, 24) * (3 if VARIANT == "runup" else 1)
if VARIANT == "blue":
    data[pick([533, 611, 702]), 7] = float("nan")
target = data.nan_to_num() @ torch.randn(24, 2)
model = torch.nn.Sequential(torch.nn.Linear(24, 64), torch.nn.ReLU(), torch.nn.Linear(64, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=rate)
for epoch in range(4):
    for step in range(50):
        rows = slice(step * 16, step * 16 + 16)
        loss = (model(data[rows]) - target[rows]).pow(2).sum(-1).mean()
        value = loss.item()
        if not math.isfinite(value):
            print(f"Loss is {value}, stopping training")
            sys.exit(1)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 2 == 0 or VARIANT == "runup":
            print(f"Epoch: [{epoch}]  [{step:2d}/50]  lr: {rate:.6f}  loss: {value:.4f}")
            note("loss", step, float(f"{value:.4f}"))
            note("learning_rate", step, float(f"{rate:.6f}"))
