"""Trainer keeps the logits of the whole evaluation on the card (no eval_accumulation_steps): training works, evaluation does not.

cause: memory.oom-at-eval
also: [memory.cuda-oom]
not: [memory.cuda-fragmentation, memory.gpu-shared, memory.cuda-leak]
signature: 'CUDA out of memory'
runs_as: finetune.py
needs: [gpu]
kept: []
seconds: 300
"""

import torch
from labkit import pick, seed_everything, trainer_notes
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

seed_everything()
rows = [{"input_ids": (ids := torch.randint(0, 50257, (512,))), "labels": ids} for _ in range(6000)]
model = GPT2LMHeadModel(GPT2Config(n_layer=2, n_embd=128, n_head=2, n_positions=512))
args = TrainingArguments("out", per_device_train_batch_size=8, per_device_eval_batch_size=pick([64, 96, 128]), learning_rate=5e-4, logging_steps=5, eval_strategy="steps", eval_steps=20, max_steps=60, report_to="none")
Trainer(model, args, train_dataset=rows, eval_dataset=rows, compute_metrics=lambda p: {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())}, callbacks=[trainer_notes()]).train()
