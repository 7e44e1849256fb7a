"""A regression diverges at a rate that is too high; the loss climbs over many lines, becomes NaN, and the project's own hook, which looks every fifty iterations, ends the run.

cause: numerics.lr-divergence
also: [numerics.gradient-explosion]
not: [code.user-exception, numerics.bad-batch, numerics.fp16-overflow]
signature: 'AssertionError: loss become infinite or NaN!'
first_failure: 'loss: (nan|inf)'
runs_as: train_depth.py
launch: |
  python train_depth.py
  code=$?
  python -m mmnotes work_dirs
  exit $code
"""

import torch
from labkit import SEED, pick
from mmengine.hooks import Hook
from mmengine.model import BaseModel
from mmengine.registry import HOOKS
from mmengine.runner import Runner
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


@HOOKS.register_module()
class CheckInvalidLossHook(Hook):
    """Check invalid loss hook."""

    def __init__(self, interval=50):
        self.interval = interval

    def after_train_iter(self, runner, batch_idx, data_batch=None, outputs=None):
        if self.every_n_train_iters(runner, self.interval):
            assert torch.isfinite(outputs["loss"]), runner.logger.info("loss become infinite or NaN!") or "loss become infinite or NaN!"


class DepthRegressor(BaseModel):
    def __init__(self, width):
        super().__init__()
        self.encoder = nn.Linear(24, width)
        self.decoder = nn.Linear(width, 24)

    def forward(self, features, depth, mode):
        predicted = self.decoder(self.encoder(features))
        error = predicted - depth
        return {"loss_depth": error.square().mean(), "loss_smooth": 0.1 * (error[:, 1:] - error[:, :-1]).square().mean()}


torch.manual_seed(SEED)
features = torch.randn(2048, 24) * 2
depth = features.cumsum(1) / 3 + 4
runner = Runner(
    model=DepthRegressor(width=pick([32, 48, 24])),
    work_dir="./work_dirs/depth",
    train_dataloader=DataLoader(TensorDataset(features, depth), batch_size=32, shuffle=True, drop_last=True),
    train_cfg=dict(by_epoch=False, max_iters=600),
    optim_wrapper=dict(type="OptimWrapper", optimizer=dict(type="SGD", lr=pick([0.5, 0.4, 0.6]))),
    param_scheduler=[dict(type="LinearLR", start_factor=0.02, by_epoch=False, begin=0, end=300)],
    default_hooks=dict(logger=dict(type="LoggerHook", interval=10), checkpoint=dict(type="CheckpointHook", by_epoch=False, interval=500)),
    custom_hooks=[dict(type="CheckInvalidLossHook", interval=50)],
    log_processor=dict(by_epoch=False),
    randomness=dict(seed=SEED),
)
runner.train()
