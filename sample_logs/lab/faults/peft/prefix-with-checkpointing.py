"""Prefix tuning puts its prefix into the key/value cache, and gradient checkpointing switches the cache off: the attention mask is longer than the keys.

cause: config.checkpointing-conflict
also: [config.peft, code.shape-mismatch]
not: [data.sequence-too-long, data.collation, checkpoint.shape-mismatch]
signature: 'RuntimeError: The size of tensor a'
runs_as: prefix_tuning.py
launch: python prefix_tuning.py --gradient_checkpointing
environment: transformers
"""

import argparse

import torch
from labkit import pick, seed_everything
from peft import PrefixTuningConfig, get_peft_model
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments

parser = argparse.ArgumentParser()
parser.add_argument("--gradient_checkpointing", action="store_true")
parser.add_argument("--virtual_tokens", type=int, default=pick([8, 20, 16]))
parser.add_argument("--length", type=int, default=pick([16, 32, 24]))
cli = parser.parse_args()
print(cli)
seed_everything()
model = LlamaForCausalLM(LlamaConfig(vocab_size=200, hidden_size=32, intermediate_size=64, num_hidden_layers=pick([2, 3, 2]), num_attention_heads=2))
model = get_peft_model(model, PrefixTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=cli.virtual_tokens))
model.print_trainable_parameters()
train = [{"input_ids": row, "labels": row, "attention_mask": torch.ones_like(row)} for row in torch.randint(0, 200, (128, cli.length))]
args = TrainingArguments("prefix", gradient_checkpointing=cli.gradient_checkpointing, per_device_train_batch_size=4, max_steps=50, learning_rate=1e-2, report_to="none", use_cpu=True)
Trainer(model, args, train_dataset=train).train()
