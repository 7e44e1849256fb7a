"""A normal run with the library's INFO logging on: config dumps, 'Num examples', saves and the deprecated-argument notices, and nothing wrong.

cause: healthy.completed
also: [healthy.running]
not: [config.trainer, checkpoint.save-failed, environment.version-incompatible, learning.plateau]
outcome: completed
step_basis: ordinal
runs_as: run_clm.py
launch: python run_clm.py
"""

import torch
from labkit import pick, seed_everything, trainer_notes
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments
from transformers.utils import logging

logging.set_verbosity_info()
logging.enable_explicit_format()
seed_everything()
model = GPT2LMHeadModel(GPT2Config(vocab_size=120, n_positions=64, n_embd=48, n_layer=2, n_head=4))
data = [{"input_ids": row, "labels": row} for row in (torch.randint(0, 120, (400, 1)) + torch.arange(24) * 5) % 120]
args = TrainingArguments("clm", num_train_epochs=1, per_device_train_batch_size=8, learning_rate=pick([3e-3, 2e-3, 5e-3]), warmup_steps=5, logging_steps=pick([5, 10, 5]), save_steps=20, save_total_limit=1, eval_strategy="steps", eval_steps=20, report_to="none", use_cpu=True)
Trainer(model=model, args=args, train_dataset=data[:360], eval_dataset=data[360:], callbacks=[trainer_notes()]).train()
