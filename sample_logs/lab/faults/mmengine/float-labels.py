r"""The labels come from a table as floating-point numbers; cross-entropy wants class indices and the first forward pass fails.

cause: code.dtype-mismatch
not: [code.shape-mismatch, data.schema, data.collation]
signature: 'RuntimeError: expected target dtype to be Long or Byte, but got'
runs_as: train_tabular.py
launch: python train_tabular.py --rows 500
"""

import argparse

import numpy as np
import torch
from labkit import SEED, pick
from mmengine.model import BaseModel
from mmengine.runner import Runner
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Credit(BaseModel):
    def __init__(self, inputs, classes):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(inputs, 40), nn.ReLU(), nn.Dropout(0.1), nn.Linear(40, classes))

    def forward(self, features, labels, mode):
        logits = self.net(features)
        if mode == "loss":
            return {"loss_cls": nn.functional.cross_entropy(logits, labels)}
        return logits.softmax(-1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=500)
    args = parser.parse_args()
    draw = np.random.RandomState(SEED)
    kind = pick([np.float32, np.float64, np.float16])
    table = np.concatenate([draw.normal(size=(args.rows, 12)), draw.randint(0, 3, (args.rows, 1))], axis=1).astype(kind)
    features, labels = torch.from_numpy(table[:, :12]).float(), torch.from_numpy(table[:, 12])
    print(f"features {tuple(features.shape)} {features.dtype}, labels {tuple(labels.shape)} {labels.dtype}")
    runner = Runner(
        Credit(12, 3), "work_dirs/credit",
        train_dataloader=DataLoader(TensorDataset(features, labels), batch_size=25, shuffle=True),
        train_cfg=dict(by_epoch=True, max_epochs=20),
        optim_wrapper=dict(optimizer=dict(type="SGD", lr=0.05, momentum=0.9)),
        randomness=dict(seed=SEED),
    )
    runner.train()
