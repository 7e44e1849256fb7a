"""ZeRO-2 with offload wants DeepSpeed's CPU Adam, which is compiled at the first start; CXX still names the compiler of a conda environment that is gone, and the build fails.

cause: environment.extension-build
seconds: 300
not: [environment.missing-package, environment.abi-mismatch, environment.cuda-toolkit, config.deepspeed, memory.host-oom]
signature: '/bin/sh: .*not found'
first_failure: 'CalledProcessError: Command .*ninja'
needs: [compiler]
launch: |
  export CXX=$(python -c "from labkit import pick; print(pick(['x86_64-conda-linux-gnu-c++', 'g++-9.3', 'x86_64-conda_cos6-linux-gnu-c++']))")
  deepspeed --num_gpus 1 --master_port $LAB_PORT train_offload.py
runs_as: train_offload.py
"""

import argparse

import deepspeed
import torch
from deepspeed.utils.logging import set_log_level_from_string
from labkit import seed_everything

deepspeed.ops.__compatible_ops__ = {}  # gloo alone; else DeepSpeed would first compile its shared-memory all-reduce
set_log_level_from_string("info")
parser = argparse.ArgumentParser()
parser.add_argument("--local_rank", type=int, default=-1)
parser.parse_args()
seed_everything()
ds_config = {
    "train_micro_batch_size_per_gpu": 2,
    "gradient_accumulation_steps": 8,
    "optimizer": {"type": "AdamW", "params": {"lr": 1e-5, "weight_decay": 0.01}},
    "zero_optimization": {"stage": 2, "offload_optimizer": {"device": "cpu", "pin_memory": True}},
    "bf16": {"enabled": True},
}
model = torch.nn.Sequential(torch.nn.Linear(128, 512), torch.nn.GELU(), torch.nn.Linear(512, 128))
engine, optimizer, _, _ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config=ds_config)
for step in range(100):
    x = torch.randn(2, 128, dtype=torch.bfloat16)
    loss = (engine(x) - x).float().pow(2).mean()
    engine.backward(loss)
    engine.step()
    print(f"step {step}: loss {loss.item():.4f}")
