"""Training is fine, but a few evaluation samples have an empty target, so that with one sample a batch all their labels are ignored: eval_loss is NaN while the training loss falls.

cause: numerics.labels-all-masked
also: [numerics.nonfinite-unknown, numerics.bad-batch]
not: [numerics.lr-divergence, numerics.fp16-overflow, numerics.corrupt-weights, learning.plateau]
signature: "'eval_loss': 'nan'"
step_basis: ordinal
runs_as: train_titles.py
launch: python train_titles.py
"""

import logging

import torch
from labkit import pick, seed_everything, trainer_notes
from transformers import T5Config, T5ForConditionalGeneration, Trainer, TrainingArguments

logging.basicConfig(level=logging.INFO, format="%(asctime)s [%(levelname)s] %(message)s", datefmt="%Y-%m-%d %H:%M:%S")
seed_everything()


def sample(target_length, longest=12):
    """A row of source tokens, and a target that continues it; padded, with padded labels ignored."""
    first = int(torch.randint(0, 100, (1,)))
    target = [2 + (first + 16 + k) % 100 for k in range(target_length)]
    return {"input_ids": [2 + (first + k) % 100 for k in range(16)], "labels": target + [-100] * (longest - target_length)}


train = [sample(int(torch.randint(4, 12, (1,)))) for _ in range(480)]
evaluation = [sample(int(torch.randint(4, 12, (1,)))) for _ in range(38)] + [sample(0) for _ in range(pick([2, 1, 3]))]
for name, part in (("train", train), ("eval", evaluation)):
    counts = [sum(label != -100 for label in row["labels"]) for row in part]
    logging.info("%s: %d samples, target tokens per sample: min %d, mean %.1f, max %d", name, len(part), min(counts), sum(counts) / len(counts), max(counts))
model = T5ForConditionalGeneration(T5Config(vocab_size=110, d_model=48, d_ff=96, d_kv=12, num_layers=2, num_heads=4, decoder_start_token_id=0, dropout_rate=0.0))
args = TrainingArguments("titles", per_device_train_batch_size=8, per_device_eval_batch_size=1, num_train_epochs=pick([2, 1, 2]), learning_rate=pick([3e-3, 5e-3, 2e-3]), logging_steps=5, logging_nan_inf_filter=False, eval_strategy="steps", eval_steps=pick([20, 15, 40]), report_to="none", use_cpu=True, save_strategy="no", disable_tqdm=True)
Trainer(model, args, train_dataset=train, eval_dataset=evaluation, callbacks=[trainer_notes()]).train()
