"""A healthy fp16 run under ZeRO-2: DeepSpeed begins with a loss scale of 2^28 and more, skips the first steps one after the other until it fits, and training then goes well to its end.

cause: healthy.completed
also: [healthy.running]
seconds: 300
not: [numerics.loss-scale-exhausted, numerics.fp16-overflow, numerics.gradient-explosion]
outcome: completed
launch: deepspeed --num_gpus 1 --master_port $LAB_PORT finetune.py --epochs 2
runs_as: finetune.py
note: 'the device check for fp16 on a CPU was lifted in the script (get_accelerator().is_fp16_supported), so that DeepSpeed trains in fp16 without a GPU; DeepSpeed''s log level is INFO as it was up to 0.17'
"""

import argparse

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
parser.add_argument("--local_rank", type=int, default=0)
parser.add_argument("--epochs", type=int, default=1)
parser.add_argument("--batch", type=int, default=16)
args = parser.parse_args()
seed_everything()
inputs = torch.randn(640, 32)
targets = (inputs @ torch.randn(32, 5)).argmax(1)
model = nn.Sequential(nn.Linear(32, 64), nn.LayerNorm(64), nn.GELU(), nn.Linear(64, 5))
engine, optimizer, loader, _ = deepspeed.initialize(
    model=model,
    optimizer=torch.optim.AdamW(model.parameters(), lr=pick([3e-3, 2e-3, 5e-3])),
    training_data=torch.utils.data.TensorDataset(inputs, targets),
    config={
        "train_micro_batch_size_per_gpu": args.batch,
        "steps_per_print": 1000,
        "zero_optimization": {"stage": 2},
        "fp16": {"enabled": True, "initial_scale_power": pick([28, 26, 32]), "hysteresis": pick([2, 1, 2]), "loss_scale_window": 200},
    },
)
for epoch in range(args.epochs):
    for x, y in loader:
        loss = nn.functional.cross_entropy(engine(x.half()).float(), y)
        engine.backward(loss)
        engine.step()
        step = engine.global_steps
        if optimizer.overflow:
            note("loss_scale", step, optimizer.cur_scale)
        if step % 5 == 0:
            print(f"Epoch {epoch + 1}/{args.epochs} | step {step}/{args.epochs * len(loader)} | loss {loss.item():.4f} | skipped {engine.skipped_steps}")
            note("loss", step, float(f"{loss.item():.4f}"))
engine.eval()
with torch.no_grad():
    accuracy = (engine(inputs.half()).argmax(1) == targets).float().mean().item()
print(f"training finished, accuracy {accuracy:.3f}, final loss scale {optimizer.cur_scale:g}")
