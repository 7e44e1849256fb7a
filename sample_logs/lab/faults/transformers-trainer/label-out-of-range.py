r"""The labels count from 1 (or have one class more than the head): cross entropy meets a target beyond its classes.

cause: data.schema
also: [cuda.device-side-assert, code.user-exception]
not: [data.sequence-too-long, code.shape-mismatch]
signature: 'IndexError: Target \d+ is out of bounds'
step_basis: ordinal
runs_as: classify.py
launch: python classify.py --model tiny-distilbert
"""

import argparse
import random

from labkit import pick, seed_everything, trainer_notes
from transformers import DistilBertConfig, DistilBertForSequenceClassification, Trainer, TrainingArguments

parser = argparse.ArgumentParser()
parser.add_argument("--model", default="tiny-distilbert")
parser.add_argument("--batch_size", type=int, default=pick([8, 4, 16]))
options = parser.parse_args()
seed_everything()
names = pick([["negative", "neutral", "positive"], ["world", "sports", "business", "sci/tech"], ["1 star", "2 stars", "3 stars", "4 stars", "5 stars"]])
rare = pick([0.01, 0.02, 0.004])
train = []
for _ in range(640):
    label = random.randrange(len(names)) if random.random() > rare else len(names)
    train.append({"input_ids": [label * 10 + random.randrange(12) for _ in range(12)], "attention_mask": [1] * 12, "labels": label})
print("classes:", dict(enumerate(names)))
config = DistilBertConfig(vocab_size=100, dim=32, hidden_dim=64, n_layers=2, n_heads=2, num_labels=len(names))
model = DistilBertForSequenceClassification(config)
args = TrainingArguments(output_dir=options.model, per_device_train_batch_size=options.batch_size, num_train_epochs=1, logging_steps=2, learning_rate=1e-3, report_to="none", use_cpu=True, disable_tqdm=pick([True, False, True]))
Trainer(model=model, args=args, train_dataset=train, callbacks=[trainer_notes()]).train()
