"""Plain SGD with a rate that is far too high and no clipping: a finite run-up over a few steps, then inf and NaN; the loop goes on to its end.

cause: numerics.lr-divergence
also: [numerics.gradient-explosion]
not: [numerics.fp16-overflow, numerics.bad-batch, healthy.running]
signature: 'loss (nan|inf)'
kept: [0, 1]
quick: true
"""

import torch
from labkit import note, pick, seed_everything

seed_everything()
rate = pick([0.9, 3.0, 1.6])
model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=rate, momentum=0.9)
inputs = torch.randn(512, 16)
targets = inputs @ torch.randn(16, 1) * 3 + 10
for step in range(1, 41):
    rows = torch.randint(0, 512, (32,))
    loss = torch.nn.functional.mse_loss(model(inputs[rows]), targets[rows])
    optimizer.zero_grad()
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), float("inf"))
    optimizer.step()
    print(f"step {step} | loss {loss.item():.4f} | grad_norm {norm.item():.4f} | lr {rate:.1e}")
    note("loss", step, float(f"{loss.item():.4f}"))
    note("grad_norm", step, float(f"{norm.item():.4f}"))
    note("learning_rate", step, rate)
