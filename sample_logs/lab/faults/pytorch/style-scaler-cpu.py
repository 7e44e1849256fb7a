"""GradScaler on a CPU with float16 autocast: squared activations are beyond float16's range in every step, the scale is halved at each, no update is ever applied.

cause: numerics.fp16-overflow
also: [numerics.loss-scale-exhausted]
not: [healthy.completed, healthy.running, numerics.lr-divergence, learning.plateau]
signature: 'overflow'
runs_as: train_amp.py
"""
import torch
from labkit import note, pick, seed_everything
from torch import nn

seed_everything()
net = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 8))
opt = torch.optim.SGD(net.parameters(), 0.05)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**16)
print("AMP: autocast(float16) + GradScaler(init_scale=65536.0, growth_interval=2000)")
for i in range(60):
    x, y = torch.randn(64, 32), torch.randint(0, 8, (64,))
    with torch.autocast("cpu", torch.float16):
        hidden = net[1](net[0](x * pick([900.0, 1300.0, 1100.0])))
        out = net[2](hidden * hidden)
    loss = nn.functional.cross_entropy(out.float(), y)
    opt.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(opt)
    old = scaler.get_scale()
    scaler.update()
    if scaler.get_scale() < old:
        print(f"iter {i}: overflow in gradients, skipping step, loss scale {old:g} -> {scaler.get_scale():g}")
    print(f"iter {i}: loss={loss.item():.4f}")
    note("loss", i, float(f"{loss.item():.4f}"))
