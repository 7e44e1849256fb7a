"""A policy trained by REINFORCE with a large rate and no entropy bonus becomes certain of one action at once: entropy and gradient are 0, the reward stays poor and every episode is the same.

cause: learning.collapse
also: [config.rl, learning.plateau]
not: [healthy.completed, healthy.running, numerics.gradient-explosion, numerics.nonfinite-unknown]
signature: '"entropy": 0[.]0[,}]'
runs_as: reinforce.py
"""

import json

import torch
from labkit import note, pick, seed_everything
from torch import nn
from torch.distributions import Categorical

seed_everything()
SIZE, RATE = pick([(7, 0.5), (6, 0.3), (8, 0.4)])
print(json.dumps({"env": f"grid{SIZE}x{SIZE}", "algorithm": "reinforce", "lr": RATE, "entropy_coef": 0.0, "gamma": 0.99, "baseline": None}))
policy = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 4))
optimizer = torch.optim.Adam(policy.parameters(), lr=RATE)
MOVES = torch.tensor([[0, 1], [0, -1], [1, 0], [-1, 0]])
goal = torch.tensor([SIZE - 1, SIZE - 1])
for update in range(1, 61):
    places = torch.randint(0, SIZE - 1, (16, 2))
    logs, rewards, entropies = [], [], []
    for _ in range(2 * SIZE):
        chooser = Categorical(logits=policy(places.float() / SIZE))
        actions = chooser.sample()
        logs.append(chooser.log_prob(actions))
        entropies.append(chooser.entropy().mean())
        places = (places + MOVES[actions]).clamp(0, SIZE - 1)
        rewards.append((places == goal).all(1).float() - 0.05)
    returns = torch.stack(rewards).sum(0)
    loss = -(torch.stack(logs).sum(0) * returns).mean()
    optimizer.zero_grad()
    loss.backward()
    norm = nn.utils.clip_grad_norm_(policy.parameters(), 10.0)
    optimizer.step()
    record = {"step": update, "loss": round(loss.item(), 4), "reward": round(returns.mean().item(), 3), "entropy": round(torch.stack(entropies).mean().item(), 4), "grad_norm": round(norm.item(), 4), "success": round((places == goal).all(1).float().mean().item(), 3)}
    print(json.dumps(record))
    for name in ("loss", "reward", "entropy", "grad_norm"):
        note(name, update, record[name])
