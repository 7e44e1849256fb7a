r"""A few rows of a table hold minutes where the others hold hours: when a batch with them comes, the loss jumps to many times its level and comes back within some iterations.

cause: numerics.loss-spike
also: [numerics.bad-batch]
not: [numerics.lr-divergence, healthy.completed]
signature: 'Iter\(train\) \[ ?(75|85|65)/150\]'
runs_as: train.py
outcome: completed
launch: |
  python train.py
  code=$?
  python -m mmnotes output
  exit $code
"""

import torch
from labkit import SEED, pick
from mmengine.hooks import IterTimerHook, LoggerHook
from mmengine.model import BaseModel
from mmengine.runner import IterBasedTrainLoop, Runner
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Trips(Dataset):
    """Duration of a trip from distance, speed limit and hour."""

    def __init__(self, size, place):
        draw = torch.Generator().manual_seed(5)
        self.rows = torch.rand(size, 3, generator=draw)
        self.hours = (self.rows @ torch.tensor([[2.0], [-1.0], [0.5]]) + 1.0)
        self.hours[place:place + 3] *= 60

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index], self.hours[index]


class DurationModel(BaseModel):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, rows, hours, mode):
        estimate = self.net(rows)
        return dict(loss=nn.functional.l1_loss(estimate, hours)) if mode == "loss" else estimate


torch.manual_seed(SEED)
step = pick([72, 82, 63])
runner = Runner(
    model=DurationModel(),
    work_dir="output/trips",
    train_dataloader=DataLoader(Trips(150 * 16, step * 16 + 4), batch_size=16, shuffle=False),
    train_cfg=dict(type=IterBasedTrainLoop, max_iters=150),
    optim_wrapper=dict(optimizer=dict(type="Adam", lr=pick([3e-3, 4e-3, 2e-3])), clip_grad=dict(max_norm=1.0)),
    default_hooks=dict(timer=dict(type=IterTimerHook), logger=dict(type=LoggerHook, interval=5), checkpoint=None),
    log_processor=dict(by_epoch=False, window_size=5),
    randomness=dict(seed=SEED),
)
runner.train()
