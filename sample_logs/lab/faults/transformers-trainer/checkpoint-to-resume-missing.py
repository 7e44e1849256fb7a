"""A restarted job asks to resume, but the output folder holds no checkpoint (the first run died before its first save).

cause: data.missing-file
also: [config.trainer, checkpoint.resume-mismatch]
not: [checkpoint.corrupt, io.permission]
signature: 'ValueError: No valid checkpoint found in output directory|ValueError: Can.t find a valid checkpoint at|FileNotFoundError'
runs_as: train.py
launch: python train.py --resume
"""

import argparse
import os

import torch
from labkit import pick, seed_everything
from transformers import GPTNeoXConfig, GPTNeoXForCausalLM, Trainer, TrainingArguments

parser = argparse.ArgumentParser()
parser.add_argument("--resume", action="store_true")
parser.add_argument("--output_dir", default=pick(["results/pythia-tiny", "out/neox", "/mnt/scratch/neox"]))
cli = parser.parse_args()
seed_everything()
model = GPTNeoXForCausalLM(GPTNeoXConfig(vocab_size=128, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64))
train = [{"input_ids": row, "labels": row} for row in torch.randint(0, 128, (160, 32))]
resume = pick([True, os.path.join(cli.output_dir, "checkpoint-400"), os.path.join(cli.output_dir, "checkpoint-last")]) if cli.resume else None
print(f"resume_from_checkpoint = {resume}")
args = TrainingArguments("out" if resume is not True else cli.output_dir, max_steps=800, save_steps=200, per_device_train_batch_size=8, report_to="none", use_cpu=True)
print("content of the output folder:", os.listdir(args.output_dir) if os.path.isdir(args.output_dir) else "-")
Trainer(model, args, train_dataset=train).train(resume_from_checkpoint=resume)
