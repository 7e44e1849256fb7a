"""An optimiser of one's own is handed to ZeRO-3 without allowing it: DeepSpeed refuses optimisers that were not tested with ZeRO.

cause: config.deepspeed
seconds: 300
also: [distributed.sharding]
not: [environment.version-incompatible, code.user-exception, distributed.peer-failure]
signature: 'AssertionError: You are using an untested ZeRO Optimizer'
launch: deepspeed --num_gpus 2 --master_port $LAB_PORT train_gan.py
runs_as: train_gan.py
"""

import argparse

import deepspeed
import torch
from labkit import pick, seed_everything
from torch import nn

deepspeed.ops.__compatible_ops__ = {}  # gloo alone; else DeepSpeed would first compile its shared-memory all-reduce
parser = argparse.ArgumentParser()
parser.add_argument("--local_rank", type=int)
args = parser.parse_args()
seed_everything()
deepspeed.init_distributed()
critic = nn.Sequential(nn.Linear(64, 128), nn.LeakyReLU(0.2), nn.Linear(128, 1))
if args.local_rank == 0:
    print(critic)
optimizer = pick([lambda p: torch.optim.RMSprop(p, lr=5e-5), lambda p: torch.optim.SGD(p, lr=1e-2, momentum=0.9, nesterov=True), lambda p: torch.optim.NAdam(p, lr=1e-4)])(critic.parameters())
engine, *_ = deepspeed.initialize(
    model=critic,
    optimizer=optimizer,
    config={"train_batch_size": 64, "zero_optimization": {"stage": 3, "stage3_param_persistence_threshold": 0}, "bf16": {"enabled": True}},
)
for step in range(100):
    real, fake = torch.randn(32, 64) + 1, torch.rand(32, 64)
    loss = engine(fake.bfloat16()).mean() - engine(real.bfloat16()).mean()
    engine.backward(loss)
    engine.step()
    if args.local_rank == 0 and step % 10 == 0:
        print(f"[{step}/100] critic {loss.item():.5f}")
