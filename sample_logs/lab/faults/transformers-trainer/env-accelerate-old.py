"""accelerate is there, but older than this Trainer asks for.

cause: environment.version-incompatible
also: []
not: [config.trainer, cuda.not-available, code.user-exception]
signature: 'ImportError: Using the `Trainer` with `PyTorch` requires `accelerate'
environment: pair-new-transformers
runs_as: train.py
"""

import json

import accelerate
import torch
import transformers
from labkit import pick, seed_everything
from transformers import DistilBertConfig, DistilBertForTokenClassification, Trainer, TrainingArguments

seed_everything()
print(json.dumps({"transformers": transformers.__version__, "accelerate": accelerate.__version__, "torch": torch.__version__}, indent=2))
config = DistilBertConfig(vocab_size=90, dim=32, n_layers=pick([1, 2, 3]), n_heads=2, hidden_dim=64, num_labels=pick([7, 5, 9]))
model = DistilBertForTokenClassification(config)
print("parameters:", model.num_parameters(), "| labels:", config.num_labels)
rows = [{"input_ids": ids, "labels": ids % config.num_labels} for ids in torch.randint(0, 90, (64, 10))]
arguments = TrainingArguments(output_dir="ner", learning_rate=pick([5e-5, 3e-5, 1e-4]), num_train_epochs=2, report_to="none")
Trainer(model, arguments, train_dataset=rows).train()
