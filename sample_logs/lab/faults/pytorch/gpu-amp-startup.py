"""A healthy start of mixed precision: the first scales overflow, the scaler settles, the loss falls.

cause: healthy.completed
also: [healthy.running]
not: [numerics.fp16-overflow, numerics.loss-scale-exhausted]
signature: ''
runs_as: train_amp.py
needs: [gpu]
kept: []
seconds: 300
outcome: completed
"""

import torch
from labkit import note, pick, seed_everything

seed_everything()

model = torch.nn.Sequential(torch.nn.Linear(64, 512), torch.nn.ReLU(), torch.nn.Linear(512, 64)).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cuda", init_scale=pick([2.0**32, 2.0**28, 2.0**30]))
inputs = torch.randn(512, 64, device="cuda")
for step in range(1, 121):
    rows = torch.randint(0, 512, (64,), device="cuda")
    with torch.autocast("cuda", dtype=torch.float16):
        loss = (model(inputs[rows]) - inputs[rows]).pow(2).mean()
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    print(f"step {step} loss {loss.item():.4f} scale {scaler.get_scale():g}")
    note("loss", step, float(f"{loss.item():.4f}"))
print("training finished")
