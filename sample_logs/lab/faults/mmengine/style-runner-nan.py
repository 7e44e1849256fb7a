"""An MMEngine loop whose model divides by a count of positives: a batch without any gives NaN from there on.

cause: numerics.unstable-op
also: [numerics.bad-batch, numerics.nonfinite-unknown]
not: [numerics.lr-divergence, numerics.fp16-overflow]
signature: 'loss: nan'
outcome: completed
runs_as: train.py
kept: []
"""
import torch
from labkit import pick, seed_everything
from mmengine.model import BaseModel
from mmengine.runner import Runner
from torch.utils.data import DataLoader, Dataset

seed_everything()
bad = pick([46, 52, 39])


class Points(Dataset):
    def __len__(self):
        return 640

    def __getitem__(self, i):
        x = torch.randn(16)
        return x, (x[0] > 0.3).float() * (0.0 if i // 8 == bad else 1.0)


class Head(BaseModel):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(16, 1)

    def forward(self, x, y=None, mode="loss"):
        p = self.net(x).squeeze(-1)
        raw = torch.nn.functional.binary_cross_entropy_with_logits(p, y, reduction="none")
        return {"loss_pos": (raw * y).sum() / y.sum(), "loss_neg": (raw * (1 - y)).sum() / (1 - y).sum()}


Runner(model=Head(), work_dir="work", train_dataloader=DataLoader(Points(), 8), optim_wrapper={"optimizer": {"type": "SGD", "lr": 0.02}}, train_cfg={"by_epoch": True, "max_epochs": 1}, default_hooks={"logger": {"type": "LoggerHook", "interval": 2}}, experiment_name="points").train()
