r"""Every ten iterations rank 0 alone takes part in an all_reduce of the user's own (a report inside `if rank == 0`); the other rank's next collective is another one, and gloo finds sizes that do not fit.

cause: distributed.rank-desync
not: [distributed.nccl-network, distributed.rendezvous, distributed.peer-failure, distributed.ddp-unused-parameters]
signature: '(gloo::EnforceNotMet|op.preamble.length|RuntimeError: .*(gloo|Detected mismatch|Timed out))'
first_failure: '(gloo::EnforceNotMet|op.preamble.length|Detected mismatch|Timed out)'
first_failure_source: 'rank'
runs_as: train_rec.py
launch: |
  torchrun --nproc_per_node 2 --master_port $LAB_PORT --redirects 3 --log-dir logs train_rec.py > $LAB_OUT/launcher.log 2>&1
  code=$?
  for rank in 0 1; do cat logs/*/attempt_0/$rank/stdout.log logs/*/attempt_0/$rank/stderr.log > $LAB_OUT/rank$rank.log; done
  exit $code
"""

import os

import torch
import torch.distributed as dist
from labkit import SEED, pick
from mmengine.config import Config
from mmengine.hooks import Hook
from mmengine.model import BaseModel
from mmengine.registry import HOOKS, MODELS
from mmengine.runner import Runner
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


@MODELS.register_module()
class Recommender(BaseModel):
    def __init__(self, users, items, size):
        super().__init__()
        self.users, self.items = nn.Embedding(users, size), nn.Embedding(items, size)

    def forward(self, user, item, score, mode="tensor"):
        return {"loss": ((self.users(user) * self.items(item)).sum(-1) - score).square().mean()}


@HOOKS.register_module()
class EmbeddingReport(Hook):
    """Log the mean length of the user vectors."""

    def after_train_iter(self, runner, batch_idx, data_batch=None, outputs=None):
        if self.every_n_train_iters(runner, 10) and runner.rank == 0:
            length = runner.model.module.users.weight.detach().norm(dim=-1)
            dist.all_reduce(length)
            runner.logger.info(f"mean user vector {length.mean().item() / runner.world_size:.3f}")


dist.init_process_group("gloo")
torch.manual_seed(1)
users, items = torch.randint(0, 200, (1600,)), torch.randint(0, 150, (1600,))
scores = torch.randn(1600)
cfg = Config(dict(
    model=dict(type="Recommender", users=200, items=150, size=pick([16, 24, 32])),
    model_wrapper_cfg=dict(type="MMDistributedDataParallel", device_ids=None, broadcast_buffers=False),
    train_cfg=dict(by_epoch=True, max_epochs=2),
    optim_wrapper=dict(optimizer=dict(type="Adam", lr=0.01)),
    default_hooks=dict(logger=dict(type="LoggerHook", interval=5)),
    custom_hooks=[dict(type="EmbeddingReport", priority="VERY_LOW")],
    env_cfg=dict(dist_cfg=dict(backend="gloo")), work_dir="work_dirs/recommender", launcher="pytorch", randomness=dict(seed=SEED),
))
data = TensorDataset(users, items, scores)
print(f"rank {os.environ['RANK']}/{os.environ['WORLD_SIZE']}: {len(data)} interactions", flush=True)
loader = DataLoader(data, batch_size=20, sampler=DistributedSampler(data))
runner = Runner(model=cfg.model, work_dir=cfg.work_dir, train_dataloader=loader, train_cfg=cfg.train_cfg, optim_wrapper=cfg.optim_wrapper, default_hooks=cfg.default_hooks,
                custom_hooks=cfg.custom_hooks, env_cfg=cfg.env_cfg, launcher="pytorch", randomness=cfg.randomness, cfg=cfg)
runner.train()
