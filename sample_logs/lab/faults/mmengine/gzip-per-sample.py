r"""A healthy run that waits for its data: every sample is unpacked from a compressed JSON file and parsed again in the main process, so that data_time is nearly all of time.

cause: performance.input-bound
also: [healthy.completed]
not: [hang.stalled, performance.slow, learning.plateau]
outcome: completed
runs_as: train_traj.py
launch: |
  python train_traj.py
  code=$?
  python -m mmnotes work_dirs
  exit $code
"""

import gzip
import json
from pathlib import Path

import numpy as np
import torch
from labkit import SEED, pick
from mmengine.config import Config
from mmengine.model import BaseModel
from mmengine.registry import DATASETS, MODELS
from mmengine.runner import Runner
from torch import nn
from torch.utils.data import Dataset


def export(folder, size, points):
    draw = np.random.RandomState(6)
    Path(folder).mkdir()
    for number in range(size):
        path = draw.normal(0, 1, (points, 3)).cumsum(0)
        with gzip.open(f"{folder}/{number:04d}.json.gz", "wt") as sink:
            json.dump({"frames": path.tolist(), "length": float(np.linalg.norm(path[-1]))}, sink)


@DATASETS.register_module()
class Trajectories(Dataset):
    metainfo = {"unit": "metre"}

    def __init__(self, folder):
        self.paths = sorted(Path(folder).glob("*.json.gz"))

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        with gzip.open(self.paths[index], "rt") as source:
            record = json.load(source)
        frames = torch.tensor(record["frames"])
        return {"ends": torch.cat([frames[0], frames[-1]]), "length": torch.tensor([record["length"]])}


@MODELS.register_module()
class LengthNet(BaseModel):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, ends, length, mode="tensor"):
        return {"loss": nn.functional.smooth_l1_loss(self.net(ends / 50), length / 50)}


export("trajectories", 64, pick([6000, 4000, 8000]))
cfg = Config({
    "model": {"type": "LengthNet"},
    "train_dataloader": {"batch_size": 4, "num_workers": 0, "dataset": {"type": "Trajectories", "folder": "trajectories"}, "sampler": {"type": "DefaultSampler", "shuffle": True}, "collate_fn": {"type": "default_collate"}},
    "train_cfg": {"by_epoch": True, "max_epochs": 4},
    "optim_wrapper": {"type": "OptimWrapper", "optimizer": {"type": "Adam", "lr": 0.02}},
    "default_hooks": {"logger": {"type": "LoggerHook", "interval": 4}, "checkpoint": {"type": "CheckpointHook", "interval": 2}},
    "work_dir": "work_dirs/length", "randomness": {"seed": SEED},
})
Runner.from_cfg(cfg).train()
