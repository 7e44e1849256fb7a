r"""Two processes train a net whose auxiliary head runs only every few iterations; DistributedDataParallel was not told about parameters without gradient and refuses the step after.

cause: distributed.ddp-unused-parameters
not: [distributed.rank-desync, distributed.nccl-timeout, code.autograd-no-grad, code.user-exception]
signature: 'RuntimeError: Expected to have finished reduction in the prior iteration'
runs_as: tools/train_aux.py
launch: torchrun --standalone --nproc_per_node=2 tools/train_aux.py --launcher pytorch
"""

import argparse

import torch
import torch.distributed as dist
from labkit import SEED, pick
from mmengine.config import Config
from mmengine.model import BaseModel
from mmengine.registry import DATASETS, MODELS
from mmengine.runner import Runner
from torch import nn
from torch.utils.data import Dataset


@DATASETS.register_module()
class Waves(Dataset):
    metainfo = {}

    def __init__(self, size):
        draw = torch.Generator().manual_seed(4)
        self.kinds = torch.randint(0, 3, (size,), generator=draw)
        time = torch.linspace(0, 6.28, 48)
        self.waves = torch.stack([torch.sin(time * (kind + 1)) for kind in self.kinds]) + 0.3 * torch.randn(size, 48, generator=draw)

    def __len__(self):
        return len(self.waves)

    def __getitem__(self, index):
        return dict(waves=self.waves[index], kinds=self.kinds[index])


@MODELS.register_module()
class WaveNet(BaseModel):
    def __init__(self, aux_every):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(48, 32), nn.ReLU())
        self.head = nn.Linear(32, 3)
        self.auxiliary_head = nn.Linear(32, 48)
        self.aux_every, self.calls = aux_every, 0

    def forward(self, waves, kinds, mode="tensor"):
        hidden = self.encoder(waves)
        losses = dict(loss_cls=nn.functional.cross_entropy(self.head(hidden), kinds))
        if self.calls % self.aux_every == 0:
            losses["loss_aux"] = 0.1 * (self.auxiliary_head(hidden) - waves).square().mean()
        self.calls += 1
        return losses


parser = argparse.ArgumentParser()
parser.add_argument("--launcher", default="none")
args = parser.parse_args()
dist.init_process_group("gloo")
cfg = Config(dict(
    model=dict(type="WaveNet", aux_every=pick([4, 2, 5])),
    model_wrapper_cfg=dict(type="MMDistributedDataParallel", device_ids=None, find_unused_parameters=False),
    train_dataloader=dict(batch_size=8, num_workers=0, dataset=dict(type="Waves", size=320), sampler=dict(type="DefaultSampler", shuffle=True), collate_fn=dict(type="default_collate")),
    train_cfg=dict(by_epoch=True, max_epochs=3),
    optim_wrapper=dict(type="OptimWrapper", optimizer=dict(type="Adam", lr=1e-3)),
    default_hooks=dict(logger=dict(type="LoggerHook", interval=1)),
    env_cfg=dict(dist_cfg=dict(backend="gloo")),
    work_dir="work_dirs/waves_aux",
    launcher=args.launcher,
    randomness=dict(seed=SEED),
))
Runner.from_cfg(cfg).train()
