r"""The head's number of input channels does not fit what the neck gives: the first multiplication fails.

cause: code.shape-mismatch
not: [checkpoint.shape-mismatch, data.collation, code.dtype-mismatch]
signature: 'RuntimeError: (mat1 and mat2 shapes cannot be multiplied|Given groups=1)'
runs_as: tools/train_heads.py
launch: python tools/train_heads.py
"""

import torch
from labkit import SEED, pick
from mmengine.config import Config
from mmengine.model import BaseModel, BaseModule
from mmengine.registry import DATASETS, MODELS
from mmengine.runner import Runner
from torch import nn
from torch.utils.data import Dataset


@DATASETS.register_module()
class NoiseImages(Dataset):
    metainfo = {}

    def __init__(self, size):
        self.size = size

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        draw = torch.Generator().manual_seed(index)
        return {"inputs": torch.randn(3, 32, 32, generator=draw), "labels": torch.tensor(index % 4)}


@MODELS.register_module()
class TinyBackbone(BaseModule):
    def __init__(self, channels):
        super().__init__()
        self.stem = nn.Conv2d(3, channels, 3, stride=2, padding=1)
        self.stage = nn.Conv2d(channels, 2 * channels, 3, stride=2, padding=1)

    def forward(self, inputs):
        return self.stage(self.stem(inputs).relu()).relu()


@MODELS.register_module()
class PoolNeck(BaseModule):
    def __init__(self, size):
        super().__init__()
        self.pool = nn.AdaptiveAvgPool2d(size)

    def forward(self, features):
        return self.pool(features).flatten(1)


@MODELS.register_module()
class LinearHead(BaseModule):
    def __init__(self, in_channels, num_classes):
        super().__init__()
        self.fc = nn.Linear(in_channels, num_classes)

    def forward(self, features):
        return self.fc(features)


@MODELS.register_module()
class Classifier(BaseModel):
    def __init__(self, backbone, neck, head):
        super().__init__()
        self.backbone, self.neck, self.head = (MODELS.build(part) for part in (backbone, neck, head))

    def forward(self, inputs, labels, mode):
        scores = self.head(self.neck(self.backbone(inputs)))
        return {"loss": nn.functional.cross_entropy(scores, labels)} if mode == "loss" else scores


width, pooled, inputs = pick([(16, 1, 64), (16, 2, 32), (24, 4, 512)])
cfg = Config({
    "model": {"type": "Classifier", "backbone": {"type": "TinyBackbone", "channels": width}, "neck": {"type": "PoolNeck", "size": pooled}, "head": {"type": "LinearHead", "in_channels": inputs, "num_classes": 4}},
    "train_dataloader": {"batch_size": 8, "num_workers": 0, "dataset": {"type": "NoiseImages", "size": 128}, "sampler": {"type": "DefaultSampler", "shuffle": True}, "collate_fn": {"type": "default_collate"}},
    "train_cfg": {"by_epoch": True, "max_epochs": 3},
    "optim_wrapper": {"type": "OptimWrapper", "optimizer": {"type": "SGD", "lr": 0.01}},
    "work_dir": "./work_dirs/heads",
    "randomness": {"seed": SEED},
})
Runner.from_cfg(cfg).train()
