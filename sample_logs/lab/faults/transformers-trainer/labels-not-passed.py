"""The target column has a name that the model does not take, is dropped, and the model returns no loss.

cause: data.schema
also: [config.trainer, code.user-exception]
not: [numerics.labels-all-masked, learning.plateau]
signature: 'ValueError: The model did not return a loss from the inputs'
runs_as: run_glue_like.py
launch: python run_glue_like.py
"""

import pandas
from datasets import Dataset
from labkit import pick, seed_everything
from transformers import AlbertConfig, AlbertForSequenceClassification, Trainer, TrainingArguments

seed_everything()
target = pick(["sentiment", "y", "class_id"])
frame = pandas.DataFrame({"input_ids": [[(i * 3 + k) % 300 for k in range(18)] for i in range(256)], target: [i % 2 for i in range(256)]})
print(frame.head())
print(frame[target].value_counts())
data = Dataset.from_pandas(frame)
model = AlbertForSequenceClassification(AlbertConfig(vocab_size=300, embedding_size=16, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64))
args = TrainingArguments("albert", per_device_train_batch_size=pick([8, 16, 32]), num_train_epochs=1, report_to="none", use_cpu=True)
Trainer(model, args, train_dataset=data).train()
