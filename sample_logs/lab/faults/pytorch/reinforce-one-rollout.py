"""Policy gradient with advantages normalised inside each group of rollouts, and groups of one: the standard deviation over one element is NaN, and after the first update the policy's probabilities are refused.

cause: config.rl
also: [numerics.unstable-op, numerics.nonfinite-unknown]
not: [numerics.lr-divergence, numerics.fp16-overflow, code.user-exception, numerics.corrupt-weights]
signature: 'UserWarning: std[(][)]: degrees of freedom'
first_failure: 'loss nan'
runs_as: grpo_bandit.py
launch: python grpo_bandit.py --num-generations 1
"""

import argparse

import torch
from labkit import note, pick, seed_everything
from torch import nn
from torch.distributions import Categorical

parser = argparse.ArgumentParser()
parser.add_argument("--num-generations", type=int, default=8, help="rollouts per prompt")
parser.add_argument("--prompts", type=int, default=pick([6, 4, 8]))
parser.add_argument("--lr", type=float, default=pick([1e-3, 3e-4, 3e-3]))
parser.add_argument("--beta", type=float, default=0.04)
parser.add_argument("--steps", type=int, default=50)
args = parser.parse_args()
for name, value in vars(args).items():
    print(f"{name:>18}: {value}")
seed_everything()
policy = nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 16))
optimizer = torch.optim.Adam(policy.parameters(), lr=args.lr)
truth = torch.randn(8, 16)
for step in range(1, args.steps + 1):
    prompts = torch.randn(args.prompts, 8)
    logits = policy(prompts)
    actions = Categorical(logits=logits).sample((args.num_generations,)).T
    rewards = (prompts @ truth).gather(1, actions)
    advantages = (rewards - rewards.mean(1, keepdim=True)) / (rewards.std(1, keepdim=True) + 1e-4)
    logprobs = logits.log_softmax(-1).gather(1, actions)
    loss = -(advantages * logprobs).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} | loss {loss.item():.4f} | reward {rewards.mean().item():.3f} | reward_std {rewards.std(1).mean().item():.3f} | group {args.num_generations}")
    note("loss", step, float(f"{loss.item():.4f}"))
    note("reward", step, float(f"{rewards.mean().item():.3f}"))
