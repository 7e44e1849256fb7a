"""A run is resumed after parameters were frozen or regrouped: the optimizer's saved groups no longer fit.

cause: checkpoint.resume-mismatch
also: [checkpoint.shape-mismatch]
not: [checkpoint.corrupt, data.missing-file, code.shape-mismatch]
signature: "ValueError: loaded state dict (contains a parameter group that doesn't match|has a different number of parameter groups)"
step_basis: ordinal
runs_as: train.py
launch: |
  python train.py --phase 1
  echo "phase 2: $(date -u +%Y) resuming from the latest checkpoint"
  python train.py --phase 2
"""

import argparse

import torch
from labkit import pick, seed_everything, trainer_notes
from transformers import BertConfig, BertForMaskedLM, Trainer, TrainingArguments

parser = argparse.ArgumentParser()
parser.add_argument("--phase", type=int, required=True)
cli = parser.parse_args()
seed_everything()
model = BertForMaskedLM(BertConfig(vocab_size=200, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64))
if cli.phase == 2:
    frozen = pick(["encoder.layer.0", "embeddings", "bias"])
    for name, parameter in model.named_parameters():
        parameter.requires_grad = frozen not in name
print(f"phase {cli.phase}: trainable {model.num_parameters(only_trainable=True):,} of {model.num_parameters():,}")
train = [{"input_ids": row, "labels": row} for row in torch.randint(0, 200, (320, 24))]
args = TrainingArguments("mlm", max_steps=20 * cli.phase, save_steps=10, logging_steps=5, per_device_train_batch_size=8, learning_rate=pick([1e-3, 5e-4, 2e-3]), report_to="none", use_cpu=True)
Trainer(model, args, train_dataset=train, callbacks=[trainer_notes()]).train(resume_from_checkpoint=cli.phase == 2)
