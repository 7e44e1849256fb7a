"""A residual MLP whose activations double from block to block, moved from bf16 to fp16 by the configuration: the printed maxima pass 65504 in the last blocks, the loss is NaN, and the loss scaler ends the run.

cause: numerics.fp16-overflow
seconds: 300
also: [numerics.loss-scale-exhausted]
not: [numerics.lr-divergence, numerics.bad-batch, numerics.corrupt-weights, config.deepspeed]
signature: 'amax .*(inf|nan)'
launch: deepspeed --num_gpus 1 --master_port $LAB_PORT train_probe.py
runs_as: train_probe.py
note: 'the device check for fp16 on a CPU was lifted in the script (get_accelerator().is_fp16_supported), so that DeepSpeed trains in fp16 without a GPU'
"""

import json

import deepspeed
import torch
from deepspeed.accelerator import get_accelerator
from labkit import note, pick, seed_everything
from torch import nn

get_accelerator().is_fp16_supported = lambda: True
deepspeed.ops.__compatible_ops__ = {}  # gloo alone; else DeepSpeed would first compile its shared-memory all-reduce
seed_everything()
CONFIG = {
    "train_micro_batch_size_per_gpu": 16,
    "steps_per_print": 2000,
    "wall_clock_breakdown": False,
    "zero_optimization": {"stage": 2},
    "fp16": {"enabled": True, "initial_scale_power": pick([16, 10, 13]), "hysteresis": 1},
}


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(width, 2 * width), nn.SiLU(), nn.Linear(2 * width, width))
        self.scale = nn.Parameter(torch.full((1,), float(pick([6.0, 5.0, 7.0]))))

    def forward(self, x):
        return x + self.scale * self.inner(x)


class Net(nn.Module):
    def __init__(self, width=64, depth=pick([16, 18, 14])):
        super().__init__()
        self.stem = nn.Linear(40, width)
        self.blocks = nn.ModuleList([Residual(width) for _ in range(depth)])
        self.norm = nn.LayerNorm(width)
        self.classify = nn.Linear(width, 10)

    def forward(self, x):
        x = self.stem(x)
        self.amax = []
        for block in self.blocks:
            x = block(x)
            self.amax.append(x.detach().abs().max().item())
        return self.classify(self.norm(x))


model = Net()
with torch.no_grad():
    model.stem.weight.mul_(200)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
engine, optimizer, _, _ = deepspeed.initialize(model=model, optimizer=optimizer, config=CONFIG)
print("config:", json.dumps(CONFIG))
print("model dtype:", next(engine.module.parameters()).dtype, "| blocks:", len(model.blocks))
data = torch.randn(400, 40)
labels = torch.randint(0, 10, (400,))
for step in range(1, 61):
    rows = torch.randint(0, 400, (16,))
    logits = engine(data[rows].half())
    print(f"iter {step} amax " + " ".join(f"{value:.0f}" for value in model.amax))
    loss = nn.functional.cross_entropy(logits.float(), labels[rows])
    engine.backward(loss)
    engine.step()
    print(f"iter {step} loss {loss.item():.4f} loss_scale {optimizer.cur_scale}")
    note("loss", step, float(f"{loss.item():.4f}"))
    note("loss_scale", step, optimizer.cur_scale)
