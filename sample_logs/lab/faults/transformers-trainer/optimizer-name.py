"""An optimizer name that TrainingArguments does not know.

cause: config.trainer
quick: true
also: [config.arguments, code.user-exception]
not: [environment.missing-package, environment.bitsandbytes]
signature: 'ValueError: .* is not a valid OptimizerNames'
runs_as: pretrain.py
launch: python pretrain.py
"""

import torch
from labkit import pick, seed_everything
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

seed_everything()
config = GPT2Config(vocab_size=256, n_positions=64, n_embd=48, n_layer=2, n_head=2)
model = GPT2LMHeadModel(config)
print(config)
tokens = torch.randint(0, 256, (200, 64))
train = [{"input_ids": row, "labels": row} for row in tokens]
print(f"{len(train)} sequences of {tokens.shape[1]} tokens")
hyper = dict(learning_rate=pick([6e-4, 1e-3, 3e-4]), weight_decay=0.1, optim=pick(["adamw", "adam_8bit", "lion"]), per_device_train_batch_size=8, max_steps=100, warmup_steps=10)
print("hyperparameters:", hyper)
trainer = Trainer(model=model, args=TrainingArguments(output_dir="gpt2-tiny", report_to="none", **hyper), train_dataset=train)
trainer.train()
