"""DeepSpeed engines of every stage on one process; a capsule is asked for, then one is written by itself."""

import os
import sys
from pathlib import Path

os.environ |= {
    "MASTER_ADDR": "127.0.0.1",
    "MASTER_PORT": "29711",
    "RANK": "0",
    "LOCAL_RANK": "0",
    "WORLD_SIZE": "1",
} | {**os.environ}

import deepspeed
import torch
from safetensors.torch import load_file

from postmortem.recorder import record_deepspeed
from postmortem.replay.capsule.opening import open_capsule

deepspeed.ops.__compatible_ops__ = {}  # gloo alone; else its shared-memory all-reduce is compiled first
stage, folder = int(sys.argv[2]), Path(sys.argv[1])
torch.manual_seed(4)
model = torch.nn.Sequential(torch.nn.Linear(6, 32), torch.nn.ReLU(), torch.nn.Linear(32, 3))
shapes = {name: tuple(one.shape) for name, one in model.named_parameters()}
engine, _, _, _ = deepspeed.initialize(
    model=model,
    optimizer=torch.optim.AdamW(model.parameters(), lr=1e-3),
    config={
        "train_micro_batch_size_per_gpu": 4,
        "gradient_accumulation_steps": 2,
        "gradient_clipping": 1.0,
        "zero_optimization": {"stage": stage},
        "bf16": {"enabled": stage > 0},
        "steps_per_print": 100000,
    },
)
dtype = torch.bfloat16 if stage > 0 else torch.float32
criterion = torch.nn.CrossEntropyLoss()
with record_deepspeed(engine, loss=criterion, every=3, folder=folder) as recorder:
    for number in range(30):
        inputs, target = torch.randn(4, 6), torch.randint(0, 3, (4,))
        if number == 16:
            asked = recorder.write("asked")
        if number == 21:
            inputs[1, 1] = torch.nan
        engine.backward(criterion(engine(inputs.to(dtype)), target))
        engine.step()
        if number == 21:
            break
kinds = ("asked", "nonfinite-loss") if os.environ["RANK"] == "0" else ("nonfinite-loss",)
for path, kind in zip(recorder.written, kinds, strict=True):
    manifest = open_capsule(path).manifest
    assert manifest.reason.kind == kind, manifest.reason
    assert all(len(one.micro_batches) == 2 for one in manifest.window.steps)
    weights = load_file(path / "weights.safetensors")
    assert {name: tuple(one.shape) for name, one in weights.items()} == shapes
    states = load_file(path / "optimizer.safetensors")
    assert {name: tuple(states[f"{name}/exp_avg"].shape) for name in shapes} == shapes, (
        states.keys()
    )
    assert set(manifest.optimizer.groups[0]["parameters"]) == {*shapes}
    assert manifest.window.steps[0].lr == (1e-3,)
    assert manifest.clipping.max_norm == 1.0
    print(
        stage,
        manifest.partial,
        manifest.window.first,
        manifest.window.last,
        manifest.window.steps[0].grad_norm,
    )
print("attached")
