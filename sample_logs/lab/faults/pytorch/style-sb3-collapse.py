"""Tables as Stable-Baselines3 prints them: a huge rate makes the policy certain at once; entropy 0, approx_kl 0, the reward stays at its first level.

cause: learning.collapse
also: [config.rl, learning.plateau]
not: [healthy.completed, healthy.running, numerics.lr-divergence]
signature: ''
outcome: completed
runs_as: ppo.py
"""
import torch
from labkit import pick, seed_everything

seed_everything()
policy = torch.nn.Sequential(torch.nn.Linear(8, 64), torch.nn.Tanh(), torch.nn.Linear(64, 6))
opt = torch.optim.Adam(policy.parameters(), 3e-4)
best = torch.randn(8, 6)
print("Using cpu device")
for update in range(1, 61):
    for group in opt.param_groups:
        group["lr"] = 3e-4 if update < 8 else pick([30.0, 40.0, 50.0])
    obs = torch.randn(256, 8)
    dist = torch.distributions.Categorical(logits=policy(obs))
    act = dist.sample()
    old = dist.log_prob(act).detach()
    reward = 0.3 + 0.7 * ((obs @ best).argmax(1) == act).float()
    loss = -(dist.log_prob(act) * reward).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    new = torch.distributions.Categorical(logits=policy(obs)).log_prob(act).detach()
    kl = (old - new).mean().item()
    print("-" * 41)
    print("| rollout/                |             |\n|    ep_len_mean          | 200         |")
    print(f"|    ep_rew_mean          | {100 * reward.mean().item():<11.3g} |")
    print(f"| time/                   |             |\n|    fps                  | 1822        |\n|    iterations           | {update:<11d} |\n|    time_elapsed         | {update * 2:<11d} |\n|    total_timesteps      | {update * 2048:<11d} |")
    print(f"| train/                  |             |\n|    approx_kl            | {kl:<11.4g} |\n|    clip_fraction        | {0.1 if update < 8 else 0:<11.3g} |\n|    entropy_loss         | {-dist.entropy().mean().item():<11.3g} |\n|    learning_rate        | {opt.param_groups[0]['lr']:<11.3g} |\n|    loss                 | {loss.item():<11.3g} |\n|    n_updates            | {update * 10:<11d} |")
    print("-" * 41)
