"""The model was loaded in float16 and Trainer has fp16=True: its scaler refuses half gradients.

cause: numerics.unscale-fp16-gradients
also: []
not: [numerics.fp16-overflow, code.dtype-mismatch, memory.cuda-oom]
signature: 'Attempting to unscale FP16 gradients'
runs_as: sft.py
needs: [gpu]
kept: []
seconds: 300
"""

import torch
from labkit import pick, seed_everything
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

seed_everything()
model = GPT2LMHeadModel(GPT2Config(vocab_size=1000, n_positions=64, n_embd=64, n_layer=2, n_head=2)).half()
print("trainable params:", f"{sum(p.numel() for p in model.parameters()):,}", "dtype:", next(model.parameters()).dtype)
data = [{"input_ids": (ids := torch.randint(0, 1000, (64,))), "labels": ids} for _ in range(128)]
args = TrainingArguments("out", per_device_train_batch_size=pick([4, 8, 16]), fp16=True, max_steps=10, logging_steps=1, report_to="none")
Trainer(model, args, train_dataset=data).train()
