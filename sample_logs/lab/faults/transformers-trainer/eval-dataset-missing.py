"""The evaluation strategy asks for evaluations, but the trainer gets no evaluation data, since the split was renamed.

cause: config.trainer
also: [data.schema]
not: [data.empty, learning.plateau]
signature: "ValueError: You have set `args.eval_strategy` to"
runs_as: finetune.py
launch: python finetune.py
"""

from datasets import Dataset, DatasetDict
from labkit import pick, seed_everything
from transformers import DistilBertConfig, DistilBertForSequenceClassification, Trainer, TrainingArguments

seed_everything()
rows = pick([480, 1200, 96])
made = Dataset.from_dict({"input_ids": [[(i * 7 + k) % 500 for k in range(20)] for i in range(rows)], "labels": [i % 2 for i in range(rows)]})
parts = made.train_test_split(test_size=0.1, seed=7)
data = DatasetDict({"train": parts["train"], pick(["test", "dev", "val"]): parts["test"]})
print(data)

model = DistilBertForSequenceClassification(DistilBertConfig(vocab_size=500, dim=32, hidden_dim=64, n_layers=2, n_heads=2))
print(f"trainable parameters: {model.num_parameters(only_trainable=True):,}")
args = TrainingArguments(
    "out-sst", learning_rate=pick([2e-5, 5e-5, 1e-4]), per_device_train_batch_size=16, num_train_epochs=2,
    eval_strategy=pick(["epoch", "steps", "steps"]), eval_steps=50, logging_steps=10, report_to="none", use_cpu=True,
)
trainer = Trainer(model=model, args=args, train_dataset=data["train"], eval_dataset=data.get("validation"))
trainer.train()
