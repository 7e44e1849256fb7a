"""One rank of three reads a damaged sample: its loss is NaN one step before the others', whose weights the averaged gradients spoil (bf16, no overflow check). The logs do not show what was wrong with the sample.

cause: numerics.nonfinite-unknown
seconds: 300
also: [numerics.bad-batch, numerics.hardware-corruption]
not: [numerics.lr-divergence, numerics.fp16-overflow, healthy.completed, numerics.loss-scale-exhausted]
signature: 'loss=nan'
first_failure: 'loss=nan'
first_failure_source: 'rank2'
launch: |
  deepspeed --num_gpus 3 --enable_each_rank_log logs --master_port $LAB_PORT train_forecast.py > launcher.log 2>&1
  status=$?
  for file in logs/*_rank*.log; do cp "$file" "$LAB_OUT/rank${file##*_rank}"; done
  cp launcher.log "$LAB_OUT/"
  exit $status
runs_as: train_forecast.py
"""

import argparse

import deepspeed
import torch
from labkit import pick, seed_everything
from torch import nn

deepspeed.ops.__compatible_ops__ = {}  # gloo alone; else DeepSpeed would first compile its shared-memory all-reduce
parser = argparse.ArgumentParser()
parser.add_argument("--local_rank", type=int, default=-1)
rank = parser.parse_args().local_rank
seed_everything()
waves = torch.sin(torch.arange(3 * 1200)[:, None] * 0.05 + torch.arange(25)[None] * 0.3) + 0.1 * torch.randn(3600, 25)
# A dropout of the sensor in the third station's share.
waves[2 * 1200 + pick([500, 900, 260]) :][:3, pick([4, 11, 20])] = float("nan")
model = nn.Sequential(nn.Linear(24, 64), nn.Tanh(), nn.Linear(64, 1))
engine, _, _, _ = deepspeed.initialize(
    model=model,
    optimizer=torch.optim.AdamW(model.parameters(), lr=2e-3),
    config={"train_micro_batch_size_per_gpu": 20, "zero_optimization": {"stage": 1}, "gradient_clipping": 1.0, "bf16": {"enabled": True, "check_grad_overflow": False}},
)
station = waves[rank * 1200 : (rank + 1) * 1200]
print(f"rank={rank} station={rank} windows={len(station)} lr=0.002 dtype=bfloat16")
for step, window in enumerate(station.split(20), 1):
    loss = nn.functional.mse_loss(engine(window[:, :-1].bfloat16()).float(), window[:, -1:])
    engine.backward(loss)
    engine.step()
    print(f"rank={rank} step={step}/60 loss={loss.item():.5f} grad_norm={float(engine.get_global_grad_norm()):.4f}")
