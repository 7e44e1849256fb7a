"""Self-supervision without stop-gradient: the embeddings' standard deviation goes to 0 while the loss looks perfect.

cause: learning.collapse
also: [learning.plateau]
not: [healthy.completed, healthy.running, numerics.lr-divergence]
signature: ''
outcome: completed
runs_as: byol.py
"""
import torch
from labkit import note, pick, seed_everything
from torch import nn

seed_everything()
net = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 16))
opt = torch.optim.Adam(net.parameters(), pick([3e-3, 2e-3, 5e-3]))
for step in range(1, 301):
    x = torch.randn(128, 32)
    a, b = net(x + 0.3 * torch.randn_like(x)), net(x + 0.3 * torch.randn_like(x))
    loss = (a - b).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 5 == 0:
        print(f"[byol] step {step:05d} loss {loss.item():.6f} embedding_std {a.std(0).mean().item():.6f} lr {opt.param_groups[0]['lr']:g}")
        note("loss", step, float(f"{loss.item():.6f}"))
