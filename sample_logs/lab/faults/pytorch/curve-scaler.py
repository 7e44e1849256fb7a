"""The script refuses to go on when the loss scale is below its floor, with the same words twice: once the loss had climbed, once it was flat and every step overflowed.

cause: numerics.loss-scale-exhausted
signature: '^FloatingPointError: loss scale'
first_failure: 'loss_scale=32768'
runs_as: train_amp.py
variants:
  runup:
    story: The rate is too high; the loss climbs, then every step overflows and the scaler falls to its floor.
    cause: numerics.lr-divergence
    also: [numerics.gradient-explosion]
    not: [healthy.running, code.user-exception]
  flat:
    story: The loss is flat, and every step overflows because of one value that float16 cannot hold; the scaler falls to its floor.
    cause: numerics.loss-scale-exhausted
    also: [numerics.fp16-overflow]
    not: [healthy.running, code.user-exception, numerics.lr-divergence]
"""

import torch
from labkit import VARIANT, note, pick, seed_everything

seed_everything()
rate = pick([3.0, 5.0, 8.0]) if VARIANT == "runup" else pick([1e-4, 2e-4, 5e-5])
print(f"lr={rate} precision=fp16 init_scale=65536.0 growth_interval=2000 min_scale=1.0")
model = torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.Tanh(), torch.nn.Linear(64, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=rate)
scaler = torch.amp.GradScaler("cpu", init_scale=65536.0)
inputs, targets = torch.randn(256, 16), torch.randn(256, 4)
start = pick([12, 16, 9])
for step in range(1, 200):
    rows = torch.randint(0, 256, (16,))
    factor = 1.0 if VARIANT == "flat" else 1.6 ** min(step, 60)
    with torch.autocast("cpu", dtype=torch.float16):
        predicted = model(inputs[rows])
    loss = torch.nn.functional.mse_loss(predicted.float() * factor, targets[rows])
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    if VARIANT == "flat" and step >= start:
        next(model.parameters()).grad[0, 0] = torch.tensor(70000.0).to(torch.float16).float()
    scaler.step(optimizer)
    scaler.update()
    scale = scaler.get_scale()
    print(f"[{step:4d}] loss={loss.item():.4f} loss_scale={scale:g}")
    note("loss", step, float(f"{loss.item():.4f}"))
    note("loss_scale", step, scale)
    if scale < 1.0:
        raise FloatingPointError(f"loss scale {scale:g} is below the floor 1.0, stopping")
