"""Trainer with fp16: one layer's activations are beyond float16's range, each step has a NaN gradient and is skipped.

cause: numerics.fp16-overflow
also: [numerics.loss-scale-exhausted, numerics.nonfinite-unknown]
not: [numerics.lr-divergence, numerics.bad-batch, learning.plateau, healthy.completed]
signature: "'grad_norm': '?nan"
runs_as: train_fp16.py
needs: [gpu]
kept: []
seconds: 300
"""

import torch
from labkit import pick, seed_everything, trainer_notes
from transformers import Trainer, TrainingArguments

seed_everything()


class Tall(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down, self.head = torch.nn.Linear(64, 512), torch.nn.Linear(512, 64), torch.nn.Linear(64, 5)
        self.up.weight.data *= pick([900, 1200, 700])

    def forward(self, x, labels):
        h = self.up(x)
        h = self.down(h.relu() * h)
        loss = torch.nn.functional.cross_entropy(self.head(torch.tanh(h)), labels)
        return {"loss": loss}


print("fp16=True (the checkpoint was trained with bf16)")
data = [{"x": torch.randn(64), "labels": torch.tensor(i % 5)} for i in range(640)]
args = TrainingArguments("out", per_device_train_batch_size=32, fp16=True, learning_rate=1e-4, logging_steps=2, max_steps=60, report_to="none", save_strategy="no", disable_tqdm=False)
Trainer(Tall(), args, train_dataset=data, callbacks=[trainer_notes()]).train()
