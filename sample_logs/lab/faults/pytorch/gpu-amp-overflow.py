"""Mixed precision on the card: activations leave float16's range in the forward pass, every step is skipped and the loss is NaN.

cause: numerics.fp16-overflow
also: [numerics.loss-scale-exhausted]
not: [numerics.lr-divergence, healthy.running]
signature: 'loss nan'
runs_as: train_amp.py
needs: [gpu]
kept: []
seconds: 300
"""

import torch
from labkit import note, pick, seed_everything

seed_everything()

print(f"{torch.cuda.get_device_name(0)} precision fp16, GradScaler, lr 0.001")
model = torch.nn.Sequential(torch.nn.Linear(64, 512), torch.nn.ReLU(), torch.nn.Linear(512, 64)).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cuda")
start = pick([40, 55, 33])
for step in range(1, 101):
    inputs = torch.randn(32, 64, device="cuda") * (1 if step < start else 40000)
    with torch.autocast("cuda", dtype=torch.float16):
        predicted = model(inputs)
        loss = (predicted - inputs).pow(2).mean()
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    print(f"step {step} loss {loss.item():.4f} scale {scaler.get_scale():g}")
    note("loss", step, float(f"{loss.item():.4f}"))
