"""Epoch lines and a table of classes as Ultralytics prints them, to the end of the training.

cause: healthy.completed
also: [healthy.running]
not: [learning.plateau, numerics.nonfinite-unknown, performance.slow]
signature: ''
outcome: completed
runs_as: train.py
kept: []
"""
import torch
from labkit import pick, seed_everything
from torch import nn

seed_everything()
net = nn.Sequential(nn.Linear(24, 64), nn.SiLU(), nn.Linear(64, 6))
opt = torch.optim.SGD(net.parameters(), pick([0.05, 0.08, 0.04]), momentum=0.9)
w = torch.randn(24, 6)
print("Image sizes 640 train, 640 val\nUsing 0 dataloader workers\nLogging results to runs/detect/train\nStarting training for 8 epochs...\n")
for epoch in range(1, 9):
    print("      Epoch    GPU_mem   box_loss   cls_loss   dfl_loss  Instances       Size")
    sums = [0.0] * 3
    for i in range(25):
        x = torch.randn(64, 24)
        out = net(x)
        parts = [(out[:, :2] - (x @ w)[:, :2]).abs().mean(), (out[:, 2:4] - (x @ w)[:, 2:4]).abs().mean(), (out[:, 4:] - (x @ w)[:, 4:]).abs().mean()]
        opt.zero_grad()
        sum(parts).backward()
        opt.step()
        sums = [s + p.item() for s, p in zip(sums, parts)]
        print(f"\r        {epoch}/8         0G     {sums[0] / (i + 1):.4g}      {sums[1] / (i + 1):.4g}      {sums[2] / (i + 1):.4g}         {11 + i % 9}        640: {100 * (i + 1) // 25:3d}%|{'█' * ((i + 1) * 10 // 25):10}| {i + 1}/25 [00:0{i // 10}<00:0{2 - i // 10},  9.1it/s]", end="")
    print("\n                 Class     Images  Instances      Box(P          R      mAP50  mAP50-95): 100%|██████████| 4/4 [00:00<00:00,  8.2it/s]")
    score = max(0.0, 1 - sums[0] / 25 / 3)
    print(f"                   all        128        929      {score:.3f}      {score * 0.9:.3f}      {score * 0.95:.3f}      {score * 0.7:.3f}\n")
print("8 epochs completed in 0.004 hours.\nOptimizer stripped from runs/detect/train/weights/last.pt, 6.2MB\nResults saved to runs/detect/train")
