"""A policy learns, then finds a loophole of its reward model: the true reward falls back to its start, completions grow to the maximal length, the entropy goes down.

cause: learning.collapse
also: [config.rl, numerics.lr-divergence]
not: [healthy.completed, healthy.running, numerics.bad-batch]
signature: ''
outcome: completed
runs_as: grpo.py
kept: []
"""
import torch
from labkit import pick, seed_everything
from torch import nn

seed_everything()
vocabulary = 24
policy, reference = nn.Linear(8, vocabulary), nn.Linear(8, vocabulary)
reference.load_state_dict(policy.state_dict())
opt = torch.optim.Adam(policy.parameters(), pick([0.6, 0.8, 0.5]))
good = torch.randn(8, vocabulary)
for step in range(1, 81):
    x = torch.randn(64, 8)
    dist, ref = torch.distributions.Categorical(logits=policy(x)), torch.distributions.Categorical(logits=reference(x))
    act = dist.sample((8,))
    reward = (act == (x @ good).argmax(1)).float() - 0.1
    proxy = (act == 3).float() * (1 if step > 25 else 0) + reward * (1 if step <= 25 else 0.0)
    adv = (proxy - proxy.mean(0)) / (proxy.std(0) + 1e-4)
    loss = -(dist.log_prob(act) * adv).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    kl = torch.distributions.kl_divergence(dist, ref).mean().item()
    share = (act == 3).float().mean().item()
    print({"loss": round(loss.item(), 4), "reward": round(reward.mean().item(), 4), "reward_std": round(proxy.std(0).mean().item(), 4), "kl": round(kl, 4), "entropy": round(dist.entropy().mean().item(), 4), "completion_length": round(40 + 472 * share, 1), "clip_ratio": round(share, 3), "step": step})
