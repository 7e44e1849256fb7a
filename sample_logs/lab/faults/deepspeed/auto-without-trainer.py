"""A configuration made for Trainer, full of "auto", goes to deepspeed.initialize in a loop of one's own: nobody fills the values in, and arithmetic with the string "auto" raises.

cause: config.deepspeed
seconds: 300
also: [config.trainer]
not: [code.dtype-mismatch, data.schema, distributed.launcher]
signature: "TypeError: ('>' not supported between instances of 'str' and 'int'|unsupported operand type)"
launch: torchrun --nproc_per_node 1 --master_port $LAB_PORT loop.py
runs_as: loop.py
"""

import json

import deepspeed
import torch
from labkit import pick, seed_everything

deepspeed.ops.__compatible_ops__ = {}  # gloo alone; else DeepSpeed would first compile its shared-memory all-reduce
seed_everything()
zero2 = {
    "bf16": {"enabled": True},
    "zero_optimization": {"stage": 2, "overlap_comm": True, "contiguous_gradients": True},
    "gradient_clipping": 1.0,
    **pick(
        [
            {"train_batch_size": "auto", "train_micro_batch_size_per_gpu": "auto", "gradient_accumulation_steps": "auto"},
            {"train_batch_size": "auto", "train_micro_batch_size_per_gpu": 4},
            {"train_micro_batch_size_per_gpu": "auto", "gradient_accumulation_steps": 2},
        ]
    ),
}
print("DeepSpeed config:")
print(json.dumps(zero2, indent=2))
encoder = torch.nn.TransformerEncoder(torch.nn.TransformerEncoderLayer(32, 4, 64, batch_first=True), 2)
model = torch.nn.Sequential(encoder, torch.nn.Linear(32, 2))
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5)
model_engine, optimizer, _, _ = deepspeed.initialize(model=model, optimizer=optimizer, config=zero2)
for step in range(20):
    x = torch.randn(4, 10, 32, dtype=torch.bfloat16)
    loss = torch.nn.functional.cross_entropy(model_engine(x).mean(1).float(), torch.randint(0, 2, (4,)))
    model_engine.backward(loss)
    model_engine.step()
    print(f"step {step} loss {loss.item():.4f}")
