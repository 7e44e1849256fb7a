"""A healthy job of three ranks under ZeRO-3, one log each, with the launcher's own output.

cause: healthy.completed
also: [healthy.running]
seconds: 300
not: [distributed.peer-failure, hang.stalled]
outcome: completed
launch: |
  deepspeed --num_gpus 3 --enable_each_rank_log logs --master_port $LAB_PORT train_segment.py > launcher.log 2>&1
  status=$?
  for file in logs/*_rank*.log; do cp "$file" "$LAB_OUT/rank${file##*_rank}"; done
  cp launcher.log "$LAB_OUT/"
  exit $status
runs_as: train_segment.py
"""

import argparse

import deepspeed
import torch
from labkit import pick, seed_everything
from torch import nn

deepspeed.ops.__compatible_ops__ = {}  # gloo alone; else DeepSpeed would first compile its shared-memory all-reduce
parser = argparse.ArgumentParser()
parser.add_argument("--local_rank", type=int, default=-1)
args = parser.parse_args()
seed_everything()
model = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 2, 1))
engine, _, _, _ = deepspeed.initialize(
    model=model,
    optimizer=torch.optim.AdamW(model.parameters(), lr=pick([1e-2, 5e-3, 2e-2])),
    config={"train_micro_batch_size_per_gpu": 4, "bf16": {"enabled": True}, "zero_optimization": {"stage": 3}, "gradient_clipping": 1.0},
)
torch.manual_seed(100 + args.local_rank)
total = pick([30, 40, 24])
for step in range(1, total + 1):
    mask = (torch.nn.functional.avg_pool2d(torch.rand(4, 1, 16, 16), 5, 1, 2) > 0.5).float()
    image = mask + 0.5 * torch.randn_like(mask)
    loss = nn.functional.cross_entropy(engine(image.bfloat16()).float(), mask[:, 0].long())
    engine.backward(loss)
    engine.step()
    if step % 2 == 0:
        print(f"[rank {args.local_rank}] iteration {step}/{total} loss: {loss.item():.4f} lr: {engine.get_lr()[0]:.4g}")
print(f"[rank {args.local_rank}] training finished after {total} iterations")
