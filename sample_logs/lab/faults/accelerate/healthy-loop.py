"""A normal accelerate run with evaluation, with the launcher's warnings about its defaults (two CPU processes were asked for, and the launcher starts one).

cause: healthy.completed
also: [healthy.running]
not: [distributed.launcher, learning.plateau, distributed.peer-failure]
outcome: completed
runs_as: cls_no_trainer.py
launch: accelerate launch --cpu --num_processes 2 --main_process_port $LAB_PORT cls_no_trainer.py --with_tracking
seconds: 240
environment: transformers
"""

import argparse

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from labkit import note, pick, seed_everything
from transformers import DistilBertConfig, DistilBertForSequenceClassification, get_linear_schedule_with_warmup

parser = argparse.ArgumentParser()
parser.add_argument("--with_tracking", action="store_true")
parser.add_argument("--lr", type=float, default=pick([2e-3, 1e-3, 3e-3]))
cli = parser.parse_args()
accelerator = Accelerator(gradient_accumulation_steps=pick([1, 2, 1]))
seed_everything()
set_seed(11)
tokens = torch.randint(0, 30, (640, 12))
labels = torch.arange(640) % 3
tokens = tokens + 30 * labels[:, None]
rows = [{"input_ids": t, "labels": y} for t, y in zip(tokens, labels, strict=True)]
model = DistilBertForSequenceClassification(DistilBertConfig(vocab_size=90, dim=32, hidden_dim=64, n_layers=2, n_heads=2, num_labels=3))
optimizer = torch.optim.AdamW(model.parameters(), lr=cli.lr)
train, evaluation = torch.utils.data.DataLoader(rows[:560], batch_size=8, shuffle=True), torch.utils.data.DataLoader(rows[560:], batch_size=16)
model, optimizer, train, evaluation = accelerator.prepare(model, optimizer, train, evaluation)
schedule = accelerator.prepare(get_linear_schedule_with_warmup(optimizer, 10, len(train) * 2))
accelerator.print(f"{accelerator.num_processes} processes, {len(train)} batches each, lr {cli.lr}")
total = 0
for epoch in range(2):
    model.train()
    for batch in train:
        with accelerator.accumulate(model):
            loss = model(**batch).loss
            accelerator.backward(loss)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
        total += 1
        if total % 5 == 0:
            mean = accelerator.reduce(loss.detach(), "mean").item()
            accelerator.print(f"epoch {epoch} step {total} loss {mean:.4f}")
            if accelerator.is_main_process:
                note("loss", total, float(f"{mean:.4f}"))
    model.eval()
    right = seen = 0
    for batch in evaluation:
        with torch.no_grad():
            guesses = model(**batch).logits.argmax(-1)
        guesses, truth = accelerator.gather_for_metrics((guesses, batch["labels"]))
        right += int((guesses == truth).sum())
        seen += len(truth)
    accelerator.print(f"epoch {epoch}: accuracy {right / seen:.4f} on {seen} samples")
accelerator.wait_for_everyone()
accelerator.print("Training finished, 0 failed batches")
