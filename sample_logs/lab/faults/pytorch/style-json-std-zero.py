"""Advantages are divided by their standard deviation; once all rewards of a batch are equal it is 0/0.

cause: numerics.unstable-op
also: [config.rl, numerics.nonfinite-unknown]
not: [numerics.lr-divergence, numerics.bad-batch, numerics.fp16-overflow]
signature: 'NaN'
runs_as: reinforce.py
"""
import json
import torch
from labkit import note, pick, seed_everything
from torch import nn

seed_everything()
policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
opt = torch.optim.Adam(policy.parameters(), pick([0.03, 0.02, 0.04]))
for step in range(1, 121):
    obs = torch.randn(24, 4)
    probs = torch.softmax(policy(obs), -1)
    act = torch.argmax(probs + 0.3 * torch.rand_like(probs), -1)
    reward = (act == (obs[:, 0] > 0).long()).float()
    adv = (reward - reward.mean()) / reward.std(unbiased=False)
    loss = -(torch.log_softmax(policy(obs), -1).gather(1, act[:, None]).squeeze() * adv).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(json.dumps({"step": step, "reward_mean": round(reward.mean().item(), 4), "reward_std": round(reward.std(unbiased=False).item(), 4), "pg_loss": round(loss.item(), 5), "loss": round(loss.item(), 5)}))
    note("loss", step, round(loss.item(), 5))
