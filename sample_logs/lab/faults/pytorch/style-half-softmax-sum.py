"""Real float16 on a CPU: summing exponentials by hand leaves float16's range as logits sharpen.

cause: numerics.fp16-overflow
also: [numerics.unstable-op, numerics.nonfinite-unknown]
not: [numerics.lr-divergence, numerics.bad-batch]
signature: 'nan|inf'
runs_as: train_half.py
"""
import torch
from labkit import note, pick, seed_everything
from torch import nn

seed_everything()
print("precision: float16 (pure half, no autocast, no scaler)")
net = nn.Linear(32, 20).half()
master = [p.detach().float().clone() for p in net.parameters()]
true = torch.randn(32, 20)
lr = pick([0.5, 0.7, 0.6])
for it in range(1, 401):
    x = torch.randn(128, 32)
    y = (x @ true).argmax(1)
    logits = net(x.half()) * 4
    z = logits.exp().sum(1)
    loss = (z.log() - logits.gather(1, y[:, None]).squeeze()).mean()
    net.zero_grad()
    loss.backward()
    with torch.no_grad():
        for p, m in zip(net.parameters(), master):
            m -= lr * p.grad.float()
            p.copy_(m)
    if it % 4 == 0:
        print(f"[{it:>4}/400] loss {loss.item():.4f} max|logit| {logits.abs().max().item():.2f} dtype fp16")
        note("loss", it, float(f"{loss.item():.4f}"))
