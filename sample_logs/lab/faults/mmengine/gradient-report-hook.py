r"""A hook of the user's own reads gradients after the optimiser's wrapper has cleared them (they are None by then); it runs every few iterations, so that the training goes well until then.

cause: code.user-exception
not: [config.registry, environment.version-incompatible, data.schema]
signature: 'AttributeError: .NoneType. object has no attribute'
runs_as: train.py
launch: |
  python train.py
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

EVERY = pick([20, 32, 50])


@HOOKS.register_module()
class GradientReport(Hook):
    """Log how large the gradients of the first and the last layer are."""

    priority = "LOW"

    def after_train_iter(self, runner, batch_idx, data_batch=None, outputs=None):
        if not self.every_n_train_iters(runner, EVERY):
            return
        layers = [module for module in runner.model.modules() if isinstance(module, nn.Linear)]
        sizes = [layer.weight.grad.abs().mean().item() for layer in (layers[0], layers[-1])]
        runner.logger.info(f"iter {runner.iter}: mean gradient {sizes[0]:.2e} (first), {sizes[1]:.2e} (last)")


class Ranker(BaseModel):
    def __init__(self):
        super().__init__()
        self.tower = nn.Sequential(nn.Linear(20, 64), nn.LayerNorm(64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, better, worse, mode):
        gap = self.tower(better) - self.tower(worse)
        return dict(loss_rank=nn.functional.softplus(-gap).mean(), margin=gap.mean())


torch.manual_seed(SEED)
worse = torch.randn(800, 20)
better = worse + 0.4 * torch.ones(20)
runner = Runner(
    model=Ranker(),
    work_dir="work_dirs/ranker",
    train_dataloader=DataLoader(TensorDataset(better, worse), batch_size=16, shuffle=True),
    train_cfg=dict(by_epoch=False, max_iters=400),
    optim_wrapper=dict(optimizer=dict(type="AdamW", lr=1e-3)),
    default_hooks=dict(logger=dict(type="LoggerHook", interval=4)),
    custom_hooks=[dict(type="GradientReport")],
    log_processor=dict(by_epoch=False),
    randomness=dict(seed=SEED),
)
runner.train()
