"""A validation loader is set, its loop or its evaluator is not: the runner asks for all three or none.

cause: config.trainer
not: [data.schema, config.registry, code.user-exception]
signature: 'ValueError: val_dataloader, val_cfg, and val_evaluator should be either all None or not None'
runs_as: train_mlp.py
launch: python train_mlp.py
"""

import torch
from labkit import SEED, pick
from mmengine.model import BaseModel
from mmengine.runner import Runner
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class MLP(BaseModel):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 3))

    def forward(self, features, labels, mode):
        scores = self.layers(features)
        return {"loss": nn.functional.cross_entropy(scores, labels)} if mode == "loss" else (scores, labels)


torch.manual_seed(SEED)
features = torch.randn(600, 8)
labels = features[:, :3].argmax(1)
print("train", features[:500].shape, "val", features[500:].shape)
validation = pick([dict(val_dataloader=DataLoader(TensorDataset(features[500:], labels[500:]), batch_size=50)), dict(val_cfg=dict()), dict(val_cfg=dict(), val_evaluator=dict(type="Accuracy"))])
runner = Runner(
    model=MLP(),
    work_dir="./work_dir",
    train_dataloader=DataLoader(TensorDataset(features[:500], labels[:500]), batch_size=50, shuffle=True),
    train_cfg=dict(by_epoch=True, max_epochs=10, val_interval=1),
    optim_wrapper=dict(optimizer=dict(type="SGD", lr=0.01)),
    **validation,
)
runner.train()
