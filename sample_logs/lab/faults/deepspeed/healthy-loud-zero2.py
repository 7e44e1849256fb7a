"""A healthy ZeRO-2 run with warnings that look bad: an untested optimiser, a deprecated call, a skipped first step, a gradient norm above the limit, a missing hostfile.

cause: healthy.completed
also: [healthy.running]
seconds: 300
not: [numerics.loss-scale-exhausted, numerics.gradient-explosion, config.deepspeed, distributed.launcher, environment.version-incompatible]
outcome: completed
launch: deepspeed --hostfile /job/hostfile --num_gpus 2 --master_port $LAB_PORT train.py 2>&1
note: 'the device check for fp16 on a CPU was lifted in the script (get_accelerator().is_fp16_supported), so that DeepSpeed trains in fp16 without a GPU; DeepSpeed''s log level is INFO as it was up to 0.17'
"""

import argparse
import warnings

import deepspeed
import torch
from deepspeed.accelerator import get_accelerator
from deepspeed.utils.logging import set_log_level_from_string
from labkit import note, pick, seed_everything
from torch import nn

get_accelerator().is_fp16_supported = lambda: True
deepspeed.ops.__compatible_ops__ = {}  # gloo alone; else DeepSpeed would first compile its shared-memory all-reduce
set_log_level_from_string("info")
parser = argparse.ArgumentParser()
parser.add_argument("--local_rank", type=int, default=-1)
args = parser.parse_args()
seed_everything()
torch.utils.data.get_worker_info()
model = nn.Sequential(nn.Conv1d(4, 16, 5, padding=2), nn.GroupNorm(4, 16), nn.ReLU(), nn.Conv1d(16, 16, 5, padding=2), nn.ReLU(), nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=pick([0.1, 0.15, 0.08]), momentum=0.9, nesterov=True)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 40)
schedule.step()
engine, optimizer, _, _ = deepspeed.initialize(
    model=model,
    optimizer=optimizer,
    config={
        "train_micro_batch_size_per_gpu": 32,
        "gradient_clipping": 0.5,
        "steps_per_print": 100000,
        "zero_allow_untested_optimizer": True,
        "zero_optimization": {"stage": 2, "overlap_comm": True},
        "fp16": {"enabled": True, "initial_scale_power": pick([22, 24, 20])},
    },
)
signal = torch.randn(3, 1, 4, 64)
best = float("inf")
for step in range(1, 81):
    labels = torch.randint(0, 3, (32,))
    batch = signal[labels, 0] + 1.5 * torch.randn(32, 4, 64)
    loss = nn.functional.cross_entropy(engine(batch.half()).float(), labels)
    engine.backward(loss)
    engine.step()
    if args.local_rank:
        continue
    if optimizer.overflow:
        note("loss_scale", step, optimizer.cur_scale)
    elif float(engine.get_global_grad_norm()) > 0.5 and step < 12:
        warnings.warn(f"gradient norm {float(engine.get_global_grad_norm()):.2f} exceeds 0.5, clipped", stacklevel=1)
    if step % 4 == 0:
        print(f"[train] step {step:03d}/080  loss {loss.item():.4f}  best {min(best, loss.item()):.4f}")
        note("loss", step, float(f"{loss.item():.4f}"))
    best = min(best, loss.item())
print(f"[rank {args.local_rank}] finished")
