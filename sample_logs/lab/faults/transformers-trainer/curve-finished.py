"""Two runs of Trainer end with the same summary: in one the loss falls, in the other it stays where it began.

cause: healthy.completed
runs_as: run_mlm.py
step_basis: ordinal
outcome: completed
variants:
  falling:
    story: A small language model learns its data and the run ends normally.
    cause: healthy.completed
    also: [healthy.running]
    not: [learning.plateau, learning.collapse]
  flat:
    story: The rate is so small that nothing is learned; the loss stays at ln(vocabulary) for the whole run, which ends normally.
    cause: learning.plateau
    also: []
    not: [healthy.completed, numerics.lr-divergence]
"""

import torch
from labkit import VARIANT, pick, seed_everything, trainer_notes
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

seed_everything()
config = GPT2Config(vocab_size=200, n_positions=32, n_embd=32, n_layer=2, n_head=2)
print(f"model has {sum(p.numel() for p in GPT2LMHeadModel(config).parameters()):,} parameters, vocab_size {config.vocab_size}")
tokens = (torch.arange(24)[None] * torch.arange(1, 9)[:, None]).repeat(40, 1) % 200
samples = [{"input_ids": row, "labels": row} for row in tokens]
arguments = TrainingArguments("out", per_device_train_batch_size=8, logging_steps=10, max_steps=pick([200, 240, 160]), learning_rate=pick([3e-3, 2e-3, 5e-3]) if VARIANT == "falling" else pick([1e-9, 3e-10, 1e-10]),
                              save_strategy="no", report_to=[], use_cpu=True, warmup_steps=10)
Trainer(GPT2LMHeadModel(config), arguments, train_dataset=samples, callbacks=[trainer_notes()]).train()
