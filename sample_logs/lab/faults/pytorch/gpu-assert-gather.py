"""A DQN replay holds an action that the network has no output for: gather asserts on the card.

cause: cuda.device-side-assert
also: []
not: [memory.cuda-oom, cuda.illegal-memory-access, cuda.cublas]
signature: 'device-side assert triggered'
first_failure: 'Assertion .* failed'
runs_as: dqn.py
needs: [gpu]
kept: []
seconds: 300
"""

import argparse
import random
from collections import deque

import torch
import torch.nn as nn
from labkit import SEED, pick, seed_everything

parser = argparse.ArgumentParser()
parser.add_argument("--env-id", default="CartPole-v1")
parser.add_argument("--num-actions", type=int, default=pick([2, 3, 4]))
parser.add_argument("--batch-size", type=int, default=128)
parser.add_argument("--learning-starts", type=int, default=500)
parser.add_argument("--gamma", type=float, default=0.99)
args = parser.parse_args()
print(args)
seed_everything()
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
print("using device:", device)
q = nn.Sequential(nn.Linear(4, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, args.num_actions)).to(device)
opt = torch.optim.Adam(q.parameters(), lr=2.5e-4)
buffer = deque(maxlen=10000)
episode_return, episodes = 0.0, 0
for global_step in range(3000):
    obs = torch.randn(4)
    # actions recorded by the old agent had one more button
    action = random.randrange(args.num_actions + (1 if global_step > 1700 else 0))
    buffer.append((obs, action, random.random(), torch.randn(4)))
    episode_return += 1
    if random.random() < 0.02:
        episodes += 1
        if episodes % 5 == 0:
            print(f"global_step={global_step}, episodic_return={episode_return:.1f}")
        episode_return = 0.0
    if global_step > args.learning_starts and global_step % 10 == 0:
        batch = random.sample(buffer, args.batch_size)
        o, a, r, n = zip(*batch)
        o, n = torch.stack(o).to(device), torch.stack(n).to(device)
        a, r = torch.tensor(a, device=device), torch.tensor(r, device=device)
        with torch.no_grad():
            target = r + args.gamma * q(n).max(1).values
        old = q(o).gather(1, a.unsqueeze(1)).squeeze()
        loss = nn.functional.mse_loss(target, old)
        if global_step % 100 == 0:
            print(f"SPS: {global_step // 3} td_loss {loss.item():.5f} q_values {old.mean().item():.4f}")
        opt.zero_grad()
        loss.backward()
        opt.step()
