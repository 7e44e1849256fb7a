"""A run that was split over two jobs: the second resumes from the last checkpoint, with the library's notices, and goes on normally to its end.

cause: healthy.completed
also: [healthy.running]
not: [checkpoint.resume-mismatch, checkpoint.key-mismatch, data.exhausted, numerics.loss-spike]
outcome: completed
step_basis: ordinal
runs_as: train_seq2seq.py
launch: |
  echo "=== job 1 ==="
  python train_seq2seq.py --max_steps 40
  echo "=== job 2: resuming ==="
  python train_seq2seq.py --max_steps 80 --resume
"""

import argparse

import torch
from labkit import pick, seed_everything, trainer_notes
from transformers import T5Config, T5ForConditionalGeneration, Trainer, TrainingArguments

parser = argparse.ArgumentParser()
parser.add_argument("--max_steps", type=int, required=True)
parser.add_argument("--resume", action="store_true")
cli = parser.parse_args()
seed_everything()
model = T5ForConditionalGeneration(T5Config(vocab_size=110, d_model=48, d_ff=96, d_kv=12, num_layers=2, num_heads=4, decoder_start_token_id=0, dropout_rate=0.0))
first = torch.randint(0, 100, (800, 1))
data = [{"input_ids": source, "labels": target} for source, target in zip(2 + (first + torch.arange(14)) % 100, 2 + (first + 14 + torch.arange(8)) % 100, strict=True)]
args = TrainingArguments("t5", max_steps=cli.max_steps, save_steps=20, logging_steps=pick([5, 10, 4]), per_device_train_batch_size=8, learning_rate=pick([3e-3, 2e-3, 4e-3]), lr_scheduler_type="constant", report_to="none", use_cpu=True, disable_tqdm=pick([True, False, True]))
Trainer(model, args, train_dataset=data, callbacks=[trainer_notes()]).train(resume_from_checkpoint=cli.resume or None)
