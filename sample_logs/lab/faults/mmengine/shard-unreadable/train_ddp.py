import glob
import os

import numpy as np
import torch
import torch.distributed as dist
from labkit import SEED
from mmengine.config import Config
from mmengine.dist import get_dist_info
from mmengine.logging import MMLogger
from mmengine.model import BaseModel
from mmengine.registry import DATASETS, MODELS
from mmengine.runner import Runner
from torch import nn
from torch.utils.data import DataLoader, Dataset


@DATASETS.register_module()
class ShardStream(Dataset):
    """Every rank reads its own shards, one after the other."""

    metainfo = {}

    def __init__(self, pattern, per_shard=64):
        rank, world_size = get_dist_info()
        self.shards = sorted(glob.glob(pattern))[rank::world_size]
        self.per_shard, self.opened, self.spectra, self.labels = per_shard, None, None, None

    def __len__(self):
        return len(self.shards) * self.per_shard

    def __getitem__(self, index):
        number, row = divmod(index, self.per_shard)
        if number != self.opened:
            MMLogger.get_current_instance().info(f"reading {self.shards[number]}")
            shard = np.load(self.shards[number])
            self.opened, self.spectra, self.labels = number, shard["spectra"], shard["labels"]
        return torch.from_numpy(self.spectra[row]), int(self.labels[row])


@MODELS.register_module()
class SpectrumNet(BaseModel):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(40, 64), nn.ReLU(), nn.Linear(64, 5))

    def forward(self, spectra, labels, mode="tensor"):
        scores = self.layers(spectra)
        return dict(loss=nn.functional.cross_entropy(scores, labels)) if mode == "loss" else scores


def main():
    # No NCCL on the CPU nodes of this cluster.
    dist.init_process_group("gloo" if not torch.cuda.is_available() else "nccl")
    cfg = Config(dict(
        model=dict(type="SpectrumNet"),
        model_wrapper_cfg=dict(type="MMDistributedDataParallel", device_ids=None, broadcast_buffers=False),
        work_dir="work_dirs/spectra",
        launcher="pytorch",
        train_cfg=dict(by_epoch=False, max_iters=48),
        optim_wrapper=dict(optimizer=dict(type="SGD", lr=0.05, momentum=0.9)),
        default_hooks=dict(logger=dict(type="LoggerHook", interval=2)),
        log_processor=dict(by_epoch=False),
        env_cfg=dict(dist_cfg=dict(backend="gloo")),
        randomness=dict(seed=SEED),
    ))
    loader = DataLoader(ShardStream("shard_*.npz"), batch_size=8)
    runner = Runner(model=cfg.model, work_dir=cfg.work_dir, train_dataloader=loader, train_cfg=cfg.train_cfg, optim_wrapper=cfg.optim_wrapper, default_hooks=cfg.default_hooks,
                    log_processor=cfg.log_processor, launcher=cfg.launcher, env_cfg=cfg.env_cfg, randomness=cfg.randomness, cfg=cfg)
    runner.logger.info(f"rank {os.environ['RANK']} of {os.environ['WORLD_SIZE']}")
    runner.train()


if __name__ == "__main__":
    main()
