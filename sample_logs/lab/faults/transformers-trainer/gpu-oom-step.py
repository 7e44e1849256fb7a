"""Trainer with a batch that the card does not hold: the first step fails in the loss over the vocabulary.

cause: memory.cuda-oom
also: []
not: [memory.cuda-fragmentation, memory.gpu-shared, memory.cuda-leak, memory.oom-at-eval]
signature: 'CUDA out of memory'
runs_as: run_clm.py
needs: [gpu]
kept: []
seconds: 300
"""

import torch
from labkit import pick, seed_everything
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

seed_everything()
data = [{"input_ids": (ids := torch.randint(0, 50257, (1024,))), "labels": ids} for _ in range(2048)]
model = GPT2LMHeadModel(GPT2Config(n_layer=4, n_embd=256, n_head=4))
args = TrainingArguments("out", per_device_train_batch_size=pick([512, 768, 640]), bf16=True, learning_rate=2e-5, logging_steps=1, report_to="none", max_steps=20)
print(args)
Trainer(model, args, train_dataset=data).train()
