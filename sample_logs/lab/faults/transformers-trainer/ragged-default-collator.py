r"""Sequences of different lengths reach the default collator, which does not pad.

cause: data.collation
also: [code.shape-mismatch, config.tokenizer]
not: [data.sequence-too-long, data.empty]
signature: 'ValueError: expected sequence of length \d+ at dim 1 \(got \d+\)'
runs_as: train.py
"""

import random

from datasets import Dataset
from labkit import pick, seed_everything
from transformers import ElectraConfig, ElectraForSequenceClassification, Trainer, TrainingArguments

seed_everything()
longest = pick([40, 60, 25])
examples = []
for index in range(500):
    ids = [random.randrange(5, 900) for _ in range(random.randint(6, longest))]
    examples.append({"input_ids": ids, "attention_mask": [1] * len(ids), "label": index % 4})
train = Dataset.from_list(examples)
lengths = [len(ids) for ids in train["input_ids"]]
print(f"{len(train)} samples, length min/mean/max {min(lengths)}/{sum(lengths) / len(lengths):.1f}/{max(lengths)}")
model = ElectraForSequenceClassification(ElectraConfig(vocab_size=900, embedding_size=16, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64, num_labels=4))
training_args = TrainingArguments(output_dir="electra", learning_rate=2e-5, per_device_train_batch_size=pick([16, 32, 8]), num_train_epochs=5, logging_steps=50, report_to="none", use_cpu=True)
trainer = Trainer(model=model, args=training_args, train_dataset=train)
trainer.train()
