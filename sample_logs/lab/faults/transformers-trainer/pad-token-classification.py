"""A decoder with a classification head whose configuration has no pad_token_id: with more than one sample a batch the model refuses.

cause: config.tokenizer
also: [code.user-exception]
not: [data.collation, code.shape-mismatch]
signature: 'ValueError: Cannot handle batch sizes > 1 if no padding token is defined'
runs_as: reward.py
launch: python reward.py
"""

import torch
from labkit import pick, seed_everything
from transformers import LlamaConfig, LlamaForSequenceClassification, Trainer, TrainingArguments

seed_everything()
length = pick([24, 32, 48])


class Comments(torch.utils.data.Dataset):
    """Tokenised comments of one length, with a score each."""

    def __init__(self, count):
        self.tokens = torch.randint(3, 300, (count, length))
        self.scores = torch.randint(0, 2, (count,))

    def __len__(self):
        return len(self.tokens)

    def __getitem__(self, index):
        return {"input_ids": self.tokens[index], "attention_mask": torch.ones(length, dtype=torch.long), "labels": self.scores[index]}


config = LlamaConfig(vocab_size=300, hidden_size=32, intermediate_size=64, num_hidden_layers=pick([2, 3, 1]), num_attention_heads=4, num_labels=2)
model = LlamaForSequenceClassification(config)
train, evaluation = Comments(400), Comments(80)
print(f"Train size: {len(train)}, eval size: {len(evaluation)}, sequence length: {length}")
args = TrainingArguments("classifier", per_device_train_batch_size=pick([4, 8, 16]), num_train_epochs=1, learning_rate=1e-4, logging_steps=10, report_to="none", use_cpu=True, disable_tqdm=True)
trainer = Trainer(model, args, train_dataset=train, eval_dataset=evaluation)
result = trainer.train()
print(result.metrics)
