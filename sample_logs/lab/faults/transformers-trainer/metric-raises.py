"""The user's compute_metrics mixes up class names and indices (or names a field that is not there) and fails at the first evaluation, after an epoch of training.

cause: code.user-exception
also: []
not: [data.schema, data.collation, numerics.nonfinite-unknown]
signature: '^(ValueError|TypeError|KeyError|AttributeError|IndexError): '
step_basis: ordinal
runs_as: train.py
"""

import json
from collections import Counter

import numpy
from labkit import pick, seed_everything, trainer_notes
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

seed_everything()
rng = numpy.random.default_rng(3)
names = ["cat", "dog", "bird"]
rows = [{"input_ids": (rng.integers(0, 30, 16) + 30 * (i % 3)).tolist(), "attention_mask": [1] * 16, "labels": i % 3} for i in range(300)]


id2label = json.loads(json.dumps(dict(enumerate(names))))


def accuracy_by_class(prediction):
    logits, labels = prediction
    guesses = logits.argmax(-1)
    return {f"accuracy_{name}": float((guesses[labels == names.index(label)] == label).mean()) for label, name in enumerate(names)}


def named_counts(prediction):
    guesses = prediction.predictions.argmax(-1)
    counts = Counter(id2label[guess] for guess in guesses)
    return {"accuracy": float((guesses == prediction.label_ids).mean()), **counts}


def best_class(prediction):
    guesses = prediction.predictions.argmax(-1)
    return {"accuracy": float((guesses == prediction.labels).mean())}


compute_metrics = pick([accuracy_by_class, named_counts, best_class])
model = BertForSequenceClassification(BertConfig(vocab_size=100, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64, num_labels=3))
args = TrainingArguments(
    "bert-animals", num_train_epochs=3, per_device_train_batch_size=pick([12, 20, 10]), eval_strategy="epoch", logging_steps=5, learning_rate=5e-4, report_to="none", use_cpu=True
)
trainer = Trainer(model, args, train_dataset=rows[:240], eval_dataset=rows[240:], compute_metrics=compute_metrics, callbacks=[trainer_notes()])
trainer.train()
