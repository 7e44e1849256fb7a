r"""The training loop's section of the configuration lacks its length, or has a key of the other kind of loop: building the loop fails.

cause: config.trainer
also: [code.user-exception]
not: [environment.version-incompatible, config.registry, data.schema]
signature: 'TypeError: .*TrainLoop'
runs_as: tools/train.py
launch: python tools/train.py --exp tagger
"""

import argparse

import torch
from labkit import SEED, pick
from mmengine.config import Config
from mmengine.model import BaseModel
from mmengine.registry import DATASETS, MODELS
from mmengine.runner import Runner
from torch import nn
from torch.utils.data import Dataset


@DATASETS.register_module()
class TaggedSentences(Dataset):
    def __init__(self, size, length=24):
        draw = torch.Generator().manual_seed(1)
        self.tokens = torch.randint(0, 100, (size, length), generator=draw)
        self.tags = self.tokens % 5

    def __len__(self):
        return len(self.tokens)

    def __getitem__(self, index):
        return dict(tokens=self.tokens[index], tags=self.tags[index])


@MODELS.register_module()
class Tagger(BaseModel):
    def __init__(self, hidden):
        super().__init__()
        self.embedding = nn.Embedding(100, hidden)
        self.lstm = nn.LSTM(hidden, hidden, batch_first=True)
        self.output = nn.Linear(hidden, 5)

    def forward(self, tokens, tags, mode):
        scores = self.output(self.lstm(self.embedding(tokens))[0])
        return dict(loss=nn.functional.cross_entropy(scores.transpose(1, 2), tags)) if mode == "loss" else scores


parser = argparse.ArgumentParser()
parser.add_argument("--exp", required=True)
args = parser.parse_args()
loop = pick([dict(by_epoch=True, val_interval=1), dict(type="EpochBasedTrainLoop", max_epochs=5, max_iters=1000), dict(type="IterBasedTrainLoop", max_epochs=3)])
cfg = Config(dict(
    work_dir=f"work_dirs/{args.exp}",
    model=dict(type="Tagger", hidden=32),
    train_dataloader=dict(batch_size=16, num_workers=0, dataset=dict(type="TaggedSentences", size=256), sampler=dict(type="DefaultSampler", shuffle=True), collate_fn=dict(type="default_collate")),
    train_cfg=loop,
    optim_wrapper=dict(type="OptimWrapper", optimizer=dict(type="Adam", lr=1e-3)),
    randomness=dict(seed=SEED),
))
Runner.from_cfg(cfg).train()
