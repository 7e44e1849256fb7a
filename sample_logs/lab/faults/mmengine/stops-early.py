r"""A healthy run that ends before its number of epochs: the validation error no longer falls and the early-stopping hook ends it, as configured.

cause: healthy.completed
also: [healthy.running]
not: [learning.plateau, scheduler.cancelled, scheduler.terminated, hang.stalled]
outcome: completed
runs_as: main.py
launch: |
  python main.py
  code=$?
  python -m mmnotes exp
  exit $code
"""

import numpy as np
import torch
from labkit import SEED, pick
from mmengine.evaluator import BaseMetric
from mmengine.hooks import CheckpointHook, EarlyStoppingHook, LoggerHook
from mmengine.model import BaseModel
from mmengine.runner import Runner
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class MAE(BaseMetric):
    default_prefix = "energy"

    def process(self, data_batch, data_samples):
        predicted, target = data_samples
        self.results.extend((predicted - target).abs().flatten().tolist())

    def compute_metrics(self, results):
        return {"mae": float(np.mean(results))}


class EnergyForecast(BaseModel):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(3, 32, batch_first=True)
        self.head = nn.Linear(32, 1)

    def forward(self, history, target, mode):
        predicted = self.head(self.rnn(history)[0][:, -1])
        return dict(loss_mse=nn.functional.mse_loss(predicted, target)) if mode == "loss" else (predicted, target)


torch.manual_seed(SEED)
history = torch.randn(400, 16, 3)
target = history[:, -3:, 0].sum(1, keepdim=True) + 0.5 * torch.randn(400, 1)
runner = Runner(
    model=EnergyForecast(),
    work_dir="exp/energy",
    train_dataloader=DataLoader(TensorDataset(history[:300], target[:300]), batch_size=30, shuffle=True),
    val_dataloader=DataLoader(TensorDataset(history[300:], target[300:]), batch_size=50),
    train_cfg=dict(by_epoch=True, max_epochs=60, val_interval=1),
    val_cfg=dict(),
    val_evaluator=[MAE()],
    optim_wrapper=dict(optimizer=dict(type="Adam", lr=0.01)),
    default_hooks=dict(logger=LoggerHook(interval=5), checkpoint=CheckpointHook(interval=20, save_best="energy/mae", rule="less", max_keep_ckpts=1)),
    custom_hooks=[EarlyStoppingHook(monitor="energy/mae", rule="less", patience=pick([4, 3, 5]), min_delta=0.005)],
    randomness=dict(seed=SEED),
)
runner.train()
