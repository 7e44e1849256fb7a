"""Fine-tuning a model loaded in pure float16 with AdamW: the squared gradients and epsilon round to zero in fp16, the first update is 0/0, and from then on Trainer's filter prints a loss of 0 with a NaN norm.

cause: numerics.fp16-overflow
also: [numerics.nonfinite-unknown, numerics.lr-divergence]
not: [healthy.completed, numerics.labels-all-masked, learning.collapse]
signature: "'grad_norm': 'nan'"
step_basis: ordinal
runs_as: finetune_fp16.py
launch: python finetune_fp16.py --dtype float16
"""

import argparse

import torch
from labkit import pick, seed_everything, trainer_notes
from transformers import AutoModelForCausalLM, Qwen2Config, Qwen2ForCausalLM, Trainer, TrainingArguments
from transformers.utils import logging

parser = argparse.ArgumentParser()
parser.add_argument("--dtype", default="float32", choices=["float32", "float16", "bfloat16"])
cli = parser.parse_args()
seed_everything()
logging.disable_progress_bar()
Qwen2ForCausalLM(Qwen2Config(vocab_size=160, hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2)).save_pretrained("base")
logging.enable_progress_bar()

model = AutoModelForCausalLM.from_pretrained("base", dtype=getattr(torch, cli.dtype))
print(model.config)
print(f"weights are {next(model.parameters()).dtype}, {model.num_parameters():,} parameters")
start = torch.randint(0, 160, (400, 1))
train = [{"input_ids": row, "labels": row} for row in (start + torch.arange(24) * 5) % 160]
args = TrainingArguments("qwen-fp16", optim="adamw_torch", learning_rate=pick([2e-5, 1e-4, 5e-5]), adam_epsilon=1e-8, per_device_train_batch_size=pick([8, 4, 16]), max_steps=pick([40, 60, 24]), logging_steps=pick([1, 2, 1]), report_to="none", use_cpu=True, save_strategy="no")
Trainer(model, args, train_dataset=train, callbacks=[trainer_notes()]).train()
