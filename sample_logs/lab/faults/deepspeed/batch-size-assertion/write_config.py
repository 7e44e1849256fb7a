"""The job's configuration, as the template of the cluster fills it in."""

import json

from labkit import pick

total, micro, accumulation = pick([(32, 16, 2), (64, 8, 8), (16, 4, 3)])
config = {
    "train_batch_size": total,
    "train_micro_batch_size_per_gpu": micro,
    "gradient_accumulation_steps": accumulation,
    "optimizer": {"type": "AdamW", "params": {"lr": 5e-5, "torch_adam": True}},
    "bf16": {"enabled": True},
    "zero_optimization": {"stage": 2},
}
with open("ds_config.json", "w", encoding="utf-8") as sink:
    json.dump(config, sink, indent=2)
