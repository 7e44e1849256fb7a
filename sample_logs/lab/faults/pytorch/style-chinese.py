"""A healthy run whose messages are Chinese: rounds, loss, accuracy, time.

cause: healthy.completed
also: [healthy.running]
not: [learning.plateau, hang.stalled, unknown.no-cause-shown]
signature: ''
outcome: completed
step_basis: ordinal
runs_as: train.py
"""
import torch
from labkit import note, pick, seed_everything
from torch import nn

seed_everything()
net = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 4))
opt = torch.optim.Adam(net.parameters(), pick([3e-3, 2e-3, 4e-3]))
w = torch.randn(20, 4)
print("加载数据集完成：训练集 6400 条，验证集 800 条\n开始训练……")
for epoch in range(1, 16):
    total = 0.0
    for _ in range(40):
        x = torch.randn(64, 20)
        loss = nn.functional.cross_entropy(net(x), (x @ w).argmax(1))
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() / 40
    x = torch.randn(800, 20)
    print(f"第 {epoch} 轮，训练 loss：{total:.4f}，验证准确率：{(net(x).argmax(1) == (x @ w).argmax(1)).float().mean().item():.2%}，学习率：{opt.param_groups[0]['lr']}，用时：0.4 秒")
    note("loss", epoch, float(f"{total:.4f}"))
print("训练完成，模型已保存到 output/best.pt")
