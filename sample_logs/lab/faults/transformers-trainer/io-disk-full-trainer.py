"""Trainer keeps all checkpoints on a small disk; one of them no longer fits.

cause: io.disk-full
also: [checkpoint.save-failed]
not: [checkpoint.corrupt, io.permission, memory.host-oom]
signature: '(No space left on device|os error 28)'
runs_as: train.py
launch: |
  mkdir out
  unshare -m bash -c 'mount -t tmpfs -o size=3m tmpfs out && exec python train.py'
needs: [tmpfs]
step_basis: ordinal
"""

import torch
from labkit import pick, seed_everything, trainer_notes
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments

seed_everything()
config = LlamaConfig(vocab_size=100, hidden_size=pick([64, 48, 80]), intermediate_size=96, num_hidden_layers=2, num_attention_heads=2)
samples = [{"input_ids": ids, "labels": ids} for ids in torch.randint(0, 100, (128, 16))]
arguments = TrainingArguments("out", per_device_train_batch_size=4, logging_steps=5, save_steps=pick([5, 10, 5]), max_steps=200, save_only_model=True, report_to=[], use_cpu=True)
Trainer(LlamaForCausalLM(config), arguments, train_dataset=samples, callbacks=[trainer_notes()]).train()
