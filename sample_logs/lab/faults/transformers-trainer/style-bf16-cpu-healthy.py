"""Trainer in bf16 on a CPU with evaluation, to the end, with the library's info messages.

cause: healthy.completed
also: [healthy.running]
not: [numerics.lr-divergence, learning.plateau, cuda.not-available, numerics.loss-spike]
outcome: completed
signature: ''
step_basis: ordinal
runs_as: train.py
kept: []
"""
import torch
from labkit import pick, seed_everything, trainer_notes
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, logging

logging.set_verbosity_info()
seed_everything()
table = torch.randint(0, 64, (64,))


def rows(n):
    out = []
    for _ in range(n):
        ids = [int(torch.randint(0, 64, ()))]
        while len(ids) < 32:
            ids.append(int(table[ids[-1]]) if torch.rand(()) < 0.8 else int(torch.randint(0, 64, ())))
        ids = torch.tensor(ids)
        out.append({"input_ids": ids, "labels": ids})
    return out


model = GPT2LMHeadModel(GPT2Config(vocab_size=64, n_positions=32, n_embd=48, n_layer=2, n_head=2))
args = TrainingArguments("runs/markov", per_device_train_batch_size=16, bf16=True, use_cpu=True, learning_rate=pick([3e-3, 2e-3, 4e-3]), warmup_steps=10, lr_scheduler_type="cosine", logging_steps=10, eval_strategy="steps", eval_steps=40, save_steps=80, num_train_epochs=4, report_to="none")
trainer = Trainer(model, args, train_dataset=rows(480), eval_dataset=rows(64), callbacks=[trainer_notes()])
result = trainer.train()
trainer.log_metrics("train", result.metrics)
