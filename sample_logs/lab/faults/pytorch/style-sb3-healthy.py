"""Tables as Stable-Baselines3 prints them: the entropy falls because the policy gets sure of the right actions, the reward rises to its maximum.

cause: healthy.completed
also: [healthy.running]
not: [learning.collapse, config.rl, learning.plateau, numerics.lr-divergence]
signature: ''
outcome: completed
runs_as: ppo.py
"""
import torch
from labkit import pick, seed_everything

seed_everything()
policy = torch.nn.Sequential(torch.nn.Linear(6, 64), torch.nn.Tanh(), torch.nn.Linear(64, 3))
opt = torch.optim.Adam(policy.parameters(), pick([0.01, 0.012, 0.008]))
best = torch.randn(6, 3)
print("Using cpu device\nWrapping the env with a `Monitor` wrapper\nWrapping the env in a DummyVecEnv.")
for update in range(1, 81):
    for _ in range(6):
        obs = torch.randn(512, 6)
        dist = torch.distributions.Categorical(logits=policy(obs))
        act = dist.sample()
        reward = ((obs @ best).argmax(1) == act).float()
        loss = -(dist.log_prob(act) * (reward - reward.mean())).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    print("-" * 41)
    print("| rollout/                |             |\n|    ep_len_mean          | 200         |")
    print(f"|    ep_rew_mean          | {200 * reward.mean().item():<11.3g} |")
    print(f"| time/                   |             |\n|    fps                  | 1822        |\n|    iterations           | {update:<11d} |\n|    time_elapsed         | {update * 2:<11d} |\n|    total_timesteps      | {update * 2048:<11d} |")
    print(f"| train/                  |             |\n|    entropy_loss         | {-dist.entropy().mean().item():<11.3g} |\n|    explained_variance   | {0.2 + 0.7 * reward.mean().item():<11.3g} |\n|    loss                 | {loss.item():<11.3g} |\n|    n_updates            | {update * 10:<11d} |")
    print("-" * 41)
