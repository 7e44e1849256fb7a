"""warmup_steps was meant for a run a thousand times longer: the rate stays near zero for the whole run and the loss does not move from ln(vocabulary).

cause: learning.plateau
also: [config.trainer]
not: [numerics.lr-divergence, healthy.completed, data.empty, numerics.labels-all-masked]
signature: "'loss': '5[.]"
outcome: completed
step_basis: ordinal
runs_as: train_mlm.py
launch: python train_mlm.py
"""

import torch
from labkit import pick, seed_everything, trainer_notes
from transformers import BertConfig, BertForMaskedLM, Trainer, TrainingArguments

seed_everything()
config = BertConfig(vocab_size=200, hidden_size=48, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96, hidden_dropout_prob=0.0)
model = BertForMaskedLM(config)
start = torch.randint(0, 196, (1000, 1))
tokens = 4 + (start + torch.arange(20) * 3) % 196
masked = tokens.clone()
masked[:, 3::5] = 3
labels = torch.where(masked == 3, tokens, -100)
train = [{"input_ids": row, "labels": label} for row, label in zip(masked, labels, strict=True)]
args = TrainingArguments(
    output_dir="bert-mlm", per_device_train_batch_size=10, num_train_epochs=2, learning_rate=pick([1e-4, 5e-5, 3e-4]), warmup_steps=pick([100000, 500000, 1000000]), logging_steps=pick([10, 5, 20]),
    report_to="none", use_cpu=True, save_strategy="no", disable_tqdm=pick([False, True, True]),
)
print(f"{len(train)} samples, {args.num_train_epochs} epochs, warmup_steps={args.warmup_steps}, learning_rate={args.learning_rate}")
Trainer(model=model, args=args, train_dataset=train, callbacks=[trainer_notes()]).train()
