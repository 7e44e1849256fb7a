"""Print the configuration."""

import json

from labkit import pick

scheduler = pick(
    [
        {"type": "WarmupDecayLR", "params": {"warmup_min_lr": 0, "warmup_max_lr": 3e-5, "warmup_num_steps": 50}},
        {"type": "OneCycle", "params": {"cycle_max_lr": 1e-3, "cycle_first_step_size": 100}},
        {"type": "WarmupCosineLR", "params": {"warmup_num_steps": 100}},
    ]
)
adam = {"type": "Adam", "params": {"lr": 3e-5, "betas": [0.9, 0.98], "torch_adam": True}}
print(json.dumps({"train_batch_size": 16, "optimizer": adam, "scheduler": scheduler, "zero_optimization": {"stage": 1}, "bf16": {"enabled": True}}, indent=4))
