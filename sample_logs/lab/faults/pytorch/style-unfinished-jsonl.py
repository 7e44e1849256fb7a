"""A JSON-lines log of a healthy run that is simply still going on (the log was copied before its end).

cause: healthy.running
also: [healthy.completed]
not: [hang.stalled, scheduler.time-limit, learning.plateau, unknown.no-cause-shown]
signature: ''
outcome: completed
runs_as: loop.py
kept: []
"""
import json
import torch
from labkit import note, pick, seed_everything
from torch import nn

seed_everything()
net = nn.Sequential(nn.Linear(32, 96), nn.GELU(), nn.Linear(96, 32))
opt = torch.optim.AdamW(net.parameters(), pick([1e-3, 2e-3, 3e-3]))
mix = torch.randn(32, 32) / 6
for step in range(1, 121):
    for _ in range(5):
        x = torch.randn(64, 32)
        loss = (net(x) - torch.tanh(x @ mix)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(json.dumps({"ts": f"2026-06-14T10:{step // 60:02d}:{step % 60:02d}Z", "event": "train", "step": step * 5, "metrics": {"loss": round(loss.item(), 6), "lr": opt.param_groups[0]["lr"], "tokens_per_sec": 40210 + step % 97}}))
    note("loss", step * 5, round(loss.item(), 6))
