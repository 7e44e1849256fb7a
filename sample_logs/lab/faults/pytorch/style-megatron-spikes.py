"""Three spikes in a long run, printed as Megatron does: each comes back within some records, the run ends well.

cause: numerics.loss-spike
also: [healthy.completed, numerics.bad-batch]
not: [numerics.lr-divergence, learning.collapse, numerics.gradient-explosion]
signature: ''
outcome: completed
runs_as: pretrain_gpt.py
kept: []
"""
import torch
from labkit import note, pick, seed_everything
from torch import nn

seed_everything()
net = nn.Sequential(nn.Linear(24, 128), nn.GELU(), nn.Linear(128, 24))
opt = torch.optim.AdamW(net.parameters(), 2e-3)
mix = torch.randn(24, 24) / 5
marks = pick([(400, 910, 1600), (500, 1010, 1500), (300, 800, 1700)])
for it in range(10, 2001, 10):
    for k in range(4):
        x = torch.randn(128, 24) * (7 if it in marks else 1)
        loss = (net(x) - torch.tanh(x @ mix)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
    print(f" [2026-06-14 10:{it // 60 % 60:02d}:{it % 60:02d}] iteration {it:8d}/    2000 | consumed samples: {it * 128:12d} | elapsed time per iteration (ms): 812.{it % 10} | learning rate: 2.000000E-03 | global batch size:   128 | lm loss: {loss.item():.6E} | loss scale: 1.0 | grad norm: {norm.item():.3f} | num zeros: 0.0 | number of skipped iterations:   0 | number of nan iterations:   0 |")
    note("loss", it, float(f"{loss.item():.6E}"))
print("[after training is done] datetime: 2026-06-14 10:34:12")
