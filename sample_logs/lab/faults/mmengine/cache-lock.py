r"""Samples are cached in a file under a lock; a routine that refreshes the cache takes the lock, reads a sample through the same path, and waits for itself for ever: output stops in the middle of the epoch, with no error; every nine seconds faulthandler prints the same place.

cause: hang.stalled
not: [hang.startup, healthy.running, scheduler.time-limit, performance.input-bound]
outcome: stalled
ends: time limit
seconds: 55
runs_as: train_audio.py
launch: python train_audio.py --work-dir work_dirs/audio
"""

import argparse
import faulthandler
import fcntl

import torch
from labkit import SEED, note, pick
from mmengine.config import Config
from mmengine.hooks import Hook
from mmengine.model import BaseModel
from mmengine.registry import DATASETS, HOOKS, MODELS
from mmengine.runner import Runner
from torch import nn
from torch.utils.data import Dataset


@DATASETS.register_module()
class CachedClips(Dataset):
    metainfo = {}

    def __init__(self, size, refresh_at):
        self.clips = torch.randn(size, 64, generator=torch.Generator().manual_seed(2))
        self.refresh_at, self.served = refresh_at, 0

    def __len__(self):
        return len(self.clips)

    def load(self, index):
        with open("clips.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            return self.clips[index]

    def refresh(self):
        with open("clips.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.clips = torch.stack([self.load(index) for index in range(len(self.clips))])

    def __getitem__(self, index):
        self.served += 1
        if self.served == self.refresh_at:
            self.refresh()
        return {"clips": self.load(index)}


@MODELS.register_module()
class Denoiser(BaseModel):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(64, 96), nn.GELU(), nn.Linear(96, 64))

    def forward(self, clips, mode="tensor"):
        return {"loss": (self.net(clips + 0.5 * torch.randn_like(clips)) - clips).abs().mean()}


@HOOKS.register_module()
class CurveNotes(Hook):
    priority = "VERY_LOW"

    def before_train_iter(self, runner, batch_idx, data_batch=None):
        faulthandler.dump_traceback_later(9, repeat=True)

    def after_train_iter(self, runner, batch_idx, data_batch=None, outputs=None):
        if self.every_n_inner_iters(batch_idx, 10):
            tag, _ = runner.log_processor.get_log_after_iter(runner, batch_idx, "train")
            note("loss", runner.iter + 1, round(tag["loss"], 4))
            note("learning_rate", runner.iter + 1, float(f"{tag['lr']:.4e}"))


parser = argparse.ArgumentParser()
parser.add_argument("--work-dir")
args = parser.parse_args()
cfg = Config(dict(
    model=dict(type="Denoiser"),
    train_dataloader=dict(batch_size=16, num_workers=0, dataset=dict(type="CachedClips", size=1600, refresh_at=pick([3000, 2200, 4100])), sampler=dict(type="DefaultSampler", shuffle=True), collate_fn=dict(type="default_collate")),
    train_cfg=dict(by_epoch=True, max_epochs=10),
    optim_wrapper=dict(type="OptimWrapper", optimizer=dict(type="AdamW", lr=1e-3)),
    default_hooks=dict(logger=dict(type="LoggerHook", interval=10)),
    custom_hooks=[dict(type="CurveNotes")],
    work_dir=args.work_dir, randomness=dict(seed=SEED),
))
Runner.from_cfg(cfg).train()
