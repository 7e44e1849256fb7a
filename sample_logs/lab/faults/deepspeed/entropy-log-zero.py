"""A policy's entropy bonus takes log of a probability that reaches exactly 0; anomaly detection names LogBackward. fp32 under ZeRO-1.

cause: numerics.unstable-op
seconds: 300
also: [numerics.nonfinite-unknown]
not: [numerics.lr-divergence, numerics.bad-batch, numerics.fp16-overflow, config.rl]
signature: "RuntimeError: Function '\\\\w+' returned nan values in its 0th output"
launch: deepspeed --num_gpus 1 --master_port $LAB_PORT train_policy.py --detect_anomaly
runs_as: train_policy.py
"""

import argparse

import deepspeed
import torch
from labkit import note, pick, seed_everything
from torch import nn

deepspeed.ops.__compatible_ops__ = {}  # gloo alone; else DeepSpeed would first compile its shared-memory all-reduce
parser = argparse.ArgumentParser()
parser.add_argument("--local_rank", type=int, default=-1)
parser.add_argument("--detect_anomaly", action="store_true")
parser.add_argument("--entropy", type=float, default=0.01)
args = parser.parse_args()
seed_everything()
torch.autograd.set_detect_anomaly(args.detect_anomaly)
policy = nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 6))
config = {"train_batch_size": 32, "gradient_clipping": 0.5, "zero_optimization": {"stage": 1}}
engine, _, _, _ = deepspeed.initialize(model=policy, optimizer=torch.optim.AdamW(policy.parameters(), lr=pick([0.02, 0.03, 0.025])), config=config)
payoff = torch.randn(8, 6)
for step in range(1, 401):
    state = torch.randn(32, 8)
    # The logits are sharpened as training goes on; a probability below 1e-45 is 0 in float32.
    probabilities = torch.softmax(engine(state) * (1 + step * pick([0.5, 0.4, 0.6])), -1)
    value = (probabilities * (state @ payoff)).sum(-1).mean()
    entropy = -(probabilities * probabilities.log()).sum(-1).mean()
    loss = -value - args.entropy * entropy
    engine.backward(loss)
    engine.step()
    print(f"update {step} loss {loss.item():.4f} value {value.item():.4f} entropy {entropy.item():.4f}")
    note("loss", step, float(f"{loss.item():.4f}"))
