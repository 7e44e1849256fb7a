"""A run in Chinese messages: the rate was written with a zero too few, the loss climbs for many rounds and becomes nan.

cause: numerics.lr-divergence
also: [numerics.gradient-explosion]
not: [numerics.bad-batch, healthy.completed, numerics.fp16-overflow]
signature: ' (nan|inf) '
step_basis: ordinal
runs_as: train.py
"""
import torch
from labkit import note, pick, seed_everything
from torch import nn

seed_everything()
net = nn.Sequential(nn.Linear(20, 64), nn.Softplus(), nn.Linear(64, 20))
lr = pick([1.5, 1.8, 1.6])
opt = torch.optim.SGD(net.parameters(), lr)
w = torch.randn(20, 20)
print(f"优化器：SGD，学习率：{lr}，批大小：64，总轮数：60")
for epoch in range(1, 61):
    for _ in range(2):
        x = torch.randn(64, 20)
        loss = (net(x) - x @ w).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(f"[第 {epoch}/60 轮] 训练损失: {loss.item():.5g}  学习率: {lr}")
    note("loss", epoch, float(f"{loss.item():.5g}"))
