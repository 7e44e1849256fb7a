r"""A healthy training of two nets against each other, each with its own optimiser, is still at work where the log ends.

cause: healthy.running
not: [hang.stalled, scheduler.terminated, learning.collapse, numerics.loss-spike]
outcome: running
ends: time limit
seconds: 40
runs_as: train_gan.py
launch: python train_gan.py
"""

import math
import random

import torch
from labkit import SEED, pick
from mmengine.config import Config
from mmengine.model import BaseModel
from mmengine.optim import OptimWrapper, OptimWrapperDict
from mmengine.registry import DATASETS, MODELS
from mmengine.runner import Runner
from torch import nn
from torch.utils.data import Dataset


@DATASETS.register_module()
class Ring(Dataset):
    metainfo = {}

    def __len__(self):
        return 9600

    def __getitem__(self, index):
        angle = 6.2832 * random.random()
        return torch.tensor([2 * math.cos(angle), 2 * math.sin(angle)])


@MODELS.register_module()
class RingGAN(BaseModel):
    def __init__(self, noise, width):
        super().__init__()
        self.noise = noise
        self.generator = nn.Sequential(nn.Linear(noise, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 2))
        self.discriminator = nn.Sequential(nn.Linear(2, width), nn.LeakyReLU(0.2), nn.Linear(width, width), nn.LeakyReLU(0.2), nn.Linear(width, 1))

    def forward(self, points, mode="tensor"):
        return self.generator(torch.randn(len(points), self.noise))

    def train_step(self, data, optim_wrapper):
        fake = self(data)
        with optim_wrapper["discriminator"].optim_context(self.discriminator):
            loss_disc = nn.functional.softplus(-self.discriminator(data)).mean() + nn.functional.softplus(self.discriminator(fake.detach())).mean()
        optim_wrapper["discriminator"].update_params(loss_disc)
        loss_gen = nn.functional.softplus(-self.discriminator(fake)).mean()
        optim_wrapper["generator"].update_params(loss_gen)
        return dict(loss_disc=loss_disc.detach(), loss_gen=loss_gen.detach())


torch.manual_seed(SEED)
cfg = Config(dict(
    model=dict(type="RingGAN", noise=8, width=pick([512, 384, 640])),
    train_dataloader=dict(batch_size=64, num_workers=0, dataset=dict(type="Ring"), sampler=dict(type="DefaultSampler", shuffle=True), collate_fn=dict(type="default_collate")),
    train_cfg=dict(by_epoch=True, max_epochs=200),
    default_hooks=dict(logger=dict(type="LoggerHook", interval=10), checkpoint=dict(type="CheckpointHook", interval=50)),
    work_dir="work_dirs/ring_gan", randomness=dict(seed=SEED),
))
model = MODELS.build(cfg.model)
wrappers = OptimWrapperDict(
    generator=OptimWrapper(torch.optim.Adam(model.generator.parameters(), lr=1e-3, betas=(0.5, 0.99))),
    discriminator=OptimWrapper(torch.optim.Adam(model.discriminator.parameters(), lr=4e-4, betas=(0.5, 0.99))),
)
runner = Runner(model=model, work_dir=cfg.work_dir, train_dataloader=cfg.train_dataloader, train_cfg=cfg.train_cfg, optim_wrapper=wrappers, default_hooks=cfg.default_hooks, randomness=cfg.randomness, cfg=cfg)
runner.train()
