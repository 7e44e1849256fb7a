"""Early stopping ends a run before its last epoch, as asked: the evaluation loss no longer falls and the best checkpoint is loaded again.

cause: healthy.completed
also: [healthy.running]
not: [scheduler.terminated, scheduler.cancelled, hang.stalled, numerics.loss-spike, learning.plateau]
outcome: completed
step_basis: ordinal
runs_as: train_early.py
launch: python train_early.py
"""

import torch
from labkit import pick, seed_everything, trainer_notes
from transformers import BertConfig, BertForSequenceClassification, EarlyStoppingCallback, Trainer, TrainingArguments

seed_everything()


def part(count):
    labels = torch.randint(0, 2, (count,))
    tokens = torch.randint(0, 60, (count, 12)) + 20 * labels[:, None]
    flip = torch.rand(count) < 0.15
    return [{"input_ids": row, "labels": label} for row, label in zip(tokens, torch.where(flip, 1 - labels, labels), strict=True)]


model = BertForSequenceClassification(BertConfig(vocab_size=80, hidden_size=48, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96))
args = TrainingArguments("early", num_train_epochs=20, per_device_train_batch_size=16, learning_rate=pick([2e-3, 1e-3, 3e-3]), eval_strategy="epoch", save_strategy="epoch", save_total_limit=1, load_best_model_at_end=True, logging_steps=10, report_to="none", use_cpu=True, disable_tqdm=True)
trainer = Trainer(model, args, train_dataset=part(240), eval_dataset=part(120), callbacks=[EarlyStoppingCallback(early_stopping_patience=pick([2, 3, 2])), trainer_notes()])
trainer.train()
print(f"stopped at epoch {trainer.state.epoch:g} of {args.num_train_epochs}; best eval_loss {trainer.state.best_metric:.4f} from {trainer.state.best_model_checkpoint}")
