"""An own compute_loss takes the logarithm of probabilities without an epsilon: they reach 0, the loss is NaN while the rate is ordinary.

cause: numerics.unstable-op
also: [numerics.nonfinite-unknown]
not: [numerics.lr-divergence, numerics.bad-batch, numerics.fp16-overflow]
signature: "'loss': '?nan"
outcome: completed
step_basis: ordinal
runs_as: distill.py
"""
import torch
from labkit import pick, seed_everything, trainer_notes
from transformers import Trainer, TrainingArguments

seed_everything()


class Student(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(16, 30)

    def forward(self, x, teacher=None):
        return {"logits": self.net(x) * pick([30.0, 25.0, 35.0])}


class Distiller(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, **rest):
        probs = torch.softmax(model(inputs["x"])["logits"], -1)
        loss = -(inputs["teacher"] * probs.log()).sum(-1).mean()  # no epsilon
        return (loss, {}) if return_outputs else loss


w = torch.randn(16, 30)
xs = torch.randn(960, 16) * torch.linspace(0.3, 4, 960)[:, None]
data = [{"x": x, "teacher": torch.softmax(x @ w * 6, -1)} for x in xs]
args = TrainingArguments("out", per_device_train_batch_size=16, learning_rate=1e-4, logging_steps=2, max_steps=60, report_to="none", use_cpu=True, save_strategy="no", disable_tqdm=True, logging_nan_inf_filter=False, remove_unused_columns=False, train_sampling_strategy="sequential")
Distiller(Student(), args, train_dataset=data, callbacks=[trainer_notes()]).train()
