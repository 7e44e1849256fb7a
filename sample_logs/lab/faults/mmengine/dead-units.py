"""Plain SGD at a rate that throws the ReLU units of a small net into their dead half within a few iterations: the loss jumps, then stays at the logarithm of the number of classes, and every sample gets the same class.

cause: learning.collapse
also: [learning.plateau, numerics.lr-divergence]
not: [healthy.completed, numerics.fp16-overflow]
signature: 'predicted per class'
runs_as: train_shapes.py
outcome: completed
launch: |
  python train_shapes.py --work-dir exp/shapes
  code=$?
  python -m mmnotes exp
  exit $code
"""

import argparse

import numpy as np
import torch
import torch.nn.functional as F
from labkit import SEED, pick
from mmengine.config import Config
from mmengine.evaluator import BaseMetric
from mmengine.logging import print_log
from mmengine.model import BaseModel
from mmengine.registry import DATASETS, METRICS, MODELS
from mmengine.runner import Runner
from torch import nn
from torch.utils.data import Dataset


@DATASETS.register_module()
class Stripes(Dataset):
    metainfo = dict(classes=("0", "30", "60", "90", "120", "150"))

    def __init__(self, size, seed):
        draw = np.random.RandomState(seed)
        self.labels = draw.randint(0, 6, size)
        rows, columns = np.mgrid[-8:8, -8:8]
        angles = np.pi * self.labels / 6
        waves = np.sin(rows * np.cos(angles)[:, None, None] + columns * np.sin(angles)[:, None, None])
        self.images = (waves + draw.normal(0, 0.8, (size, 16, 16))).astype(np.float32)[:, None]

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return {"inputs": torch.from_numpy(self.images[index]), "labels": int(self.labels[index])}


@MODELS.register_module()
class StripeNet(BaseModel):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(1, width, 3, padding=1), nn.ReLU(), nn.Conv2d(width, width, 3, stride=2, padding=1), nn.ReLU(), nn.Flatten())
        self.head = nn.Sequential(nn.Linear(width * 64, 64), nn.ReLU(), nn.Linear(64, 6))

    def forward(self, inputs, labels, mode):
        scores = self.head(self.body(inputs))
        if mode == "loss":
            return {"loss": F.cross_entropy(scores, labels)}
        return scores, labels


@METRICS.register_module()
class TopOne(BaseMetric):
    default_prefix = "top1"

    def process(self, data_batch, data_samples):
        scores, labels = data_samples
        self.results += list(zip(scores.argmax(1).tolist(), labels.tolist(), strict=True))

    def compute_metrics(self, results):
        predicted, labels = np.array(results).T
        print_log(f"predicted per class: {np.bincount(predicted, minlength=6).tolist()}  true per class: {np.bincount(labels, minlength=6).tolist()}", "current")
        return {"accuracy": float((predicted == labels).mean())}


parser = argparse.ArgumentParser()
parser.add_argument("--work-dir", default="exp/shapes")
options = parser.parse_args()
cfg = Config({
    "work_dir": options.work_dir,
    "model": {"type": "StripeNet", "width": 32},
    "train_dataloader": {"batch_size": 16, "num_workers": 0, "dataset": {"type": "Stripes", "size": 640, "seed": 1}, "sampler": {"type": "DefaultSampler", "shuffle": True}, "collate_fn": {"type": "default_collate"}},
    "val_dataloader": {"batch_size": 32, "num_workers": 0, "dataset": {"type": "Stripes", "size": 192, "seed": 2}, "sampler": {"type": "DefaultSampler", "shuffle": False}, "collate_fn": {"type": "default_collate"}},
    "train_cfg": {"by_epoch": True, "max_epochs": 6, "val_interval": 1},
    "val_cfg": {},
    "val_evaluator": {"type": "TopOne"},
    "optim_wrapper": {"optimizer": {"type": "SGD", "lr": pick([1.0, 0.8, 1.3]), "momentum": 0.9}, "clip_grad": {"max_norm": 40.0}},
    "default_hooks": {"logger": {"type": "LoggerHook", "interval": 8}, "checkpoint": {"type": "CheckpointHook", "interval": 3}},
    "randomness": {"seed": SEED},
})
runner = Runner.from_cfg(cfg)
runner.train()
