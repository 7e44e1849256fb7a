"""Plain SGD with a rate that is far too high: a finite run-up, then inf and NaN; the loop goes on.

cause: numerics.lr-divergence
also: [numerics.gradient-explosion]
not: [numerics.fp16-overflow, numerics.bad-batch, healthy.running]
signature: 'step 6 | loss nan | grad_norm nan | lr 1.3'
"""

import torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=1.3)
inputs, target = torch.randn(256, 32), torch.randn(256, 1)
for step in range(40):
    loss = torch.nn.functional.mse_loss(model(inputs), target)
    optimizer.zero_grad()
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), float("inf"))
    optimizer.step()
    print(f"step {step} | loss {loss.item():.6g} | grad_norm {norm.item():.6g} | lr {optimizer.param_groups[0]['lr']}")
