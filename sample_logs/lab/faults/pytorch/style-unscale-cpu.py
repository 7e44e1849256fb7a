r"""Two groups are clipped one after the other: unscale_ is called once for each, on the same optimizer.

cause: code.user-exception
also: [config.trainer]
not: [numerics.fp16-overflow, numerics.unscale-fp16-gradients]
signature: 'unscale_\(\) has already been called'
runs_as: train_amp.py
kept: []
"""
import torch
from labkit import pick, seed_everything

seed_everything()
net = torch.nn.Sequential(torch.nn.Linear(32, pick([64, 128, 96])), torch.nn.ReLU(), torch.nn.LazyLinear(1))
net(torch.zeros(1, 32))
opt = torch.optim.AdamW(net.parameters(), 1e-3)
scaler = torch.amp.GradScaler("cpu")
print("AMP: enabled (fp16), grad clip: backbone 1.0, head 0.5")
with torch.autocast("cpu", torch.float16):
    loss = net(torch.randn(64, 32)).float().pow(2).mean()
print(f"iter 0 loss {loss.item():.4f}")
scaler.scale(loss).backward()
for params, limit in ((net[:2].parameters(), 1.0), (net[2:].parameters(), 0.5)):
    scaler.unscale_(opt)
    torch.nn.utils.clip_grad_norm_(params, limit)
scaler.step(opt)
scaler.update()
