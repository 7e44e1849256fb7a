"""The checkpoint that a run goes on from holds NaN weights already: the first loss is NaN, before any update.

cause: numerics.corrupt-weights
also: [numerics.nonfinite-unknown]
not: [numerics.lr-divergence, numerics.fp16-overflow, numerics.bad-batch]
signature: 'loss nan'
runs_as: train.py
launch: |
  python train.py --make > /dev/null
  python train.py --resume runs/last.pt
kept: []
"""
import os
import sys
import torch
from labkit import note, pick, seed_everything
from torch import nn

seed_everything()
net = nn.Sequential(nn.Linear(16, 64), nn.Tanh(), nn.Linear(64, 4))
if "--make" in sys.argv:
    net[2].weight.data[pick([1, 2, 3]), 5] = float("nan")
    os.makedirs("runs")
    torch.save({"model": net.state_dict(), "step": 4000}, "runs/last.pt")
    sys.exit()
state = torch.load(sys.argv[2])
net.load_state_dict(state["model"])
print(f"resumed from {sys.argv[2]} (step {state['step']})")
for name, p in net.named_parameters():
    print(f"  {name:10} {str(tuple(p.shape)):10} mean {p.mean().item():+.4f} std {p.std().item():.4f} nan {int(p.isnan().sum())}")
opt = torch.optim.Adam(net.parameters(), 1e-3)
for step in range(state["step"], state["step"] + 20):
    x = torch.randn(32, 16)
    loss = nn.functional.cross_entropy(net(x), x[:, :4].argmax(1))
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(f"step {step} loss {loss.item():.4f}")
    note("loss", step, float(f"{loss.item():.4f}"))
