"""Post-norm BERT from scratch with a rate of 3e-2, constant, no warm-up: the loss leaps in the first records and settles far above ln(vocabulary).

cause: numerics.lr-divergence
also: [learning.plateau, learning.collapse]
not: [healthy.completed, healthy.running, numerics.bad-batch, numerics.fp16-overflow]
outcome: completed
signature: ''
step_basis: ordinal
runs_as: run_mlm.py
"""
import torch
from labkit import pick, seed_everything, trainer_notes
from transformers import BertConfig, BertForMaskedLM, Trainer, TrainingArguments

seed_everything()
data = []
for _ in range(640):
    ids = (torch.randint(0, 60, (1,)) + torch.arange(24)) % 60
    labels = torch.full((24,), -100)
    hit = torch.rand(24) < 0.3
    hit[0] = True
    labels[hit] = ids[hit]
    data.append({"input_ids": ids.masked_fill(hit, 63), "labels": labels})
model = BertForMaskedLM(BertConfig(vocab_size=64, hidden_size=64, num_hidden_layers=4, num_attention_heads=4, intermediate_size=128))
args = TrainingArguments("out", per_device_train_batch_size=16, learning_rate=pick([0.5, 0.8, 0.3]), lr_scheduler_type="constant", max_grad_norm=0.0, warmup_steps=0, logging_steps=2, max_steps=100, report_to="none", use_cpu=True, save_strategy="no", disable_tqdm=True)
print(f"learning_rate={args.learning_rate} warmup_steps={args.warmup_steps} max_grad_norm={args.max_grad_norm}")
Trainer(model, args, train_dataset=data, callbacks=[trainer_notes()]).train()
