r"""A hand-written focal loss takes the logarithm of a sigmoid without an epsilon; once a logit is far enough out it is log(0), and anomaly detection, which is on, names the operation.

cause: numerics.unstable-op
also: [numerics.nonfinite-unknown]
not: [numerics.lr-divergence, numerics.bad-batch, code.user-exception]
signature: 'RuntimeError: Function .\w+Backward0. returned nan values'
runs_as: tools/train_change.py
launch: |
  python tools/train_change.py
  code=$?
  python -m mmnotes work_dirs
  exit $code
"""

import torch
from labkit import SEED, pick
from mmengine.config import Config
from mmengine.model import BaseModel
from mmengine.registry import MODELS
from mmengine.runner import Runner
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


@MODELS.register_module()
class FocalLoss(nn.Module):
    def __init__(self, gamma=2.0):
        super().__init__()
        self.gamma = gamma

    def forward(self, logits, targets):
        probability = torch.sigmoid(logits)
        positive = targets * (1 - probability) ** self.gamma * torch.log(probability)
        negative = (1 - targets) * probability ** self.gamma * torch.log(1 - probability)
        return -(positive + negative).mean()


@MODELS.register_module()
class ChangeDetector(BaseModel):
    def __init__(self, channels, loss):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(2, channels, 3, padding=1), nn.ReLU(), nn.Conv2d(channels, 1, 1))
        self.log_scale = nn.Parameter(torch.tensor(1.0))
        self.loss = MODELS.build(loss)

    def forward(self, pairs, masks, mode):
        logits = self.encoder(pairs) * self.log_scale.exp()
        return {"loss_focal": self.loss(logits, masks)} if mode == "loss" else logits


torch.autograd.set_detect_anomaly(True)
torch.manual_seed(SEED)
before = torch.randn(512, 1, 16, 16)
masks = torch.zeros(512, 1, 16, 16)
masks[:, :, 4:12, 4:12] = 1
after = before + masks * 2.5 + 0.6 * torch.randn(512, 1, 16, 16)
cfg = Config(dict(
    model=dict(type="ChangeDetector", channels=pick([16, 24, 12]), loss=dict(type="FocalLoss", gamma=pick([1.0, 1.5, 0.5]))),
    work_dir="work_dirs/change_focal",
    train_cfg=dict(by_epoch=True, max_epochs=12),
    optim_wrapper=dict(optimizer=dict(type="Adam", lr=pick([0.06, 0.05, 0.08]))),
    default_hooks=dict(logger=dict(type="LoggerHook", interval=4)),
    randomness=dict(seed=SEED),
))
loader = DataLoader(TensorDataset(torch.cat([before, after], 1), masks), batch_size=16, shuffle=True)
runner = Runner(model=cfg.model, work_dir=cfg.work_dir, train_dataloader=loader, train_cfg=cfg.train_cfg, optim_wrapper=cfg.optim_wrapper, default_hooks=cfg.default_hooks, randomness=cfg.randomness, cfg=cfg)
runner.train()
