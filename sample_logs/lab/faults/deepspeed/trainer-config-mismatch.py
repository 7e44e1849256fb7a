"""Trainer with a DeepSpeed file whose batch size, rate and warm-up are numbers of an older job: Trainer compares them with its own arguments and stops.

cause: config.deepspeed
seconds: 300
also: [config.trainer]
not: [checkpoint.resume-mismatch, environment.version-incompatible, code.user-exception, config.arguments]
signature: 'ValueError: Please correct the following DeepSpeed config values that mismatch TrainingArguments values'
launch: deepspeed --num_gpus 1 --master_port $LAB_PORT run_clm.py --deepspeed --per_device_train_batch_size 4 --learning_rate 5e-5
runs_as: run_clm.py
step_basis: ordinal
"""

import argparse

import deepspeed
import torch
from labkit import pick, seed_everything
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

deepspeed.ops.__compatible_ops__ = {}  # gloo alone; else DeepSpeed would first compile its shared-memory all-reduce
parser = argparse.ArgumentParser()
parser.add_argument("--local_rank", type=int, default=-1)
parser.add_argument("--deepspeed", action="store_true")
parser.add_argument("--per_device_train_batch_size", type=int, default=8)
parser.add_argument("--learning_rate", type=float, default=5e-5)
cli = parser.parse_args()
seed_everything()
ds_config = {
    "bf16": {"enabled": "auto"},
    "zero_optimization": {"stage": 2, "overlap_comm": True},
    "gradient_accumulation_steps": pick([1, 4, 1]),
    "train_batch_size": "auto",
    "train_micro_batch_size_per_gpu": pick([8, 4, 2]),
    "optimizer": {"type": "AdamW", "params": {"lr": pick([2e-5, 5e-5, 1e-4]), "betas": "auto", "eps": "auto", "weight_decay": "auto", "torch_adam": True}},
    "scheduler": {"type": "WarmupLR", "params": {"warmup_min_lr": "auto", "warmup_max_lr": "auto", "warmup_num_steps": 100}},
}
arguments = TrainingArguments(
    "gpt2-tiny",
    per_device_train_batch_size=cli.per_device_train_batch_size,
    learning_rate=cli.learning_rate,
    max_steps=20,
    logging_steps=5,
    bf16=True,
    use_cpu=True,
    report_to=[],
    deepspeed=ds_config,
)
model = GPT2LMHeadModel(GPT2Config(vocab_size=128, n_positions=64, n_embd=32, n_layer=2, n_head=2))
print(f"Model has {model.num_parameters():,} parameters")
data = [{"input_ids": row, "labels": row} for row in torch.randint(0, 128, (64, 32))]
Trainer(model, arguments, train_dataset=data).train()
