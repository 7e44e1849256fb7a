"""The data set's columns are named otherwise than the model's arguments, so that the trainer removes all of them.

cause: data.schema
also: [config.trainer, data.empty]
not: [data.missing-file, data.collation]
signature: "ValueError: No columns in the dataset match the model's forward method signature"
runs_as: train_bert.py
launch: python train_bert.py
"""

from datasets import Dataset
from labkit import pick, seed_everything
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments
from transformers.utils import logging

logging.set_verbosity_info()
seed_everything()
names = pick([("tokens", "mask", "target"), ("text", "category", "id"), ("review_ids", "review_mask", "stars")])
rows = {names[0]: [[(i + k) % 200 for k in range(16)] for i in range(160)], names[1]: [[1] * 16 for _ in range(160)], names[2]: [i % 3 for i in range(160)]}
train = Dataset.from_dict(rows)
print(train)
print(train[0])
config = BertConfig(vocab_size=200, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64, num_labels=3)
model = BertForSequenceClassification(config)
args = TrainingArguments(output_dir="bert-reviews", per_device_train_batch_size=8, num_train_epochs=2, report_to=[], use_cpu=True)
trainer = Trainer(model=model, args=args, train_dataset=train)
trainer.train()
