import argparse

import numpy as np
import torch
from mmengine.config import Config
from mmengine.model import BaseModel
from mmengine.registry import DATASETS, MODELS
from mmengine.runner import Runner
from torch import nn
from torch.utils.data import Dataset


@DATASETS.register_module()
class PumpReadings(Dataset):
    METAINFO = dict(target="flow")
    metainfo = METAINFO

    def __init__(self, path):
        with open(path, encoding="utf-8") as source:
            names = source.readline().strip().split(",")
        table = np.genfromtxt(path, delimiter=",", skip_header=1)
        print(f"{path}: {table.shape[0]} rows, {table.shape[1]} columns")
        for place, name in enumerate(names):
            column = table[:, place]
            print(f"  {name:12s} min {np.nanmin(column):9.3f}  mean {np.nanmean(column):9.3f}  max {np.nanmax(column):9.3f}  nan {int(np.isnan(column).sum())}")
        mean, std = np.nanmean(table, axis=0), np.nanstd(table, axis=0)
        self.table = torch.as_tensor((table - mean) / std, dtype=torch.float32)

    def __len__(self):
        return len(self.table)

    def __getitem__(self, index):
        row = self.table[index]
        return dict(features=row[:-1], target=row[-1:])


@MODELS.register_module()
class FlowRegressor(BaseModel):
    def __init__(self, hidden=48):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(5, hidden), nn.GELU(), nn.Linear(hidden, hidden), nn.GELU(), nn.Linear(hidden, 1))

    def forward(self, features, target=None, mode="tensor"):
        predicted = self.layers(features)
        if mode == "loss":
            return dict(loss=nn.functional.smooth_l1_loss(predicted, target))
        return predicted


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--iters", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    cfg = Config(dict(
        work_dir="runs/pump_flow",
        model=dict(type="FlowRegressor", hidden=48),
        train_dataloader=dict(batch_size=8, num_workers=0, dataset=dict(type="PumpReadings", path="readings.csv"), sampler=dict(type="InfiniteSampler", shuffle=False), collate_fn=dict(type="default_collate")),
        train_cfg=dict(by_epoch=False, max_iters=args.iters),
        optim_wrapper=dict(type="OptimWrapper", optimizer=dict(type="AdamW", lr=2e-3, weight_decay=0.01), clip_grad=dict(max_norm=5.0)),
        default_hooks=dict(logger=dict(type="LoggerHook", interval=4), checkpoint=dict(type="CheckpointHook", by_epoch=False, interval=60)),
        log_processor=dict(by_epoch=False, window_size=4),
        randomness=dict(seed=args.seed),
    ))
    Runner.from_cfg(cfg).train()


if __name__ == "__main__":
    main()
