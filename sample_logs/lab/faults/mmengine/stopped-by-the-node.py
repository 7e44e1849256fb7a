r"""A healthy run of two processes under torchrun is sent SIGTERM from outside; nothing in the log tells by whom.

cause: scheduler.terminated
also: [scheduler.preempted]
not: [scheduler.cancelled, memory.host-oom, code.native-crash, healthy.completed]
signature: 'SignalException: Process \d+ got signal: 15'
first_failure: '(Received (Signals.SIGTERM|15) death signal|got signal: 15)'
runs_as: train_lm.py
launch: |
  torchrun --standalone --nproc-per-node=2 train_lm.py > train.log 2>&1 &
  job=$!
  until grep -q "Iter(train) \[  40/" train.log; do sleep 0.2; done
  kill -TERM $job
  wait $job
  code=$?
  cat train.log
  exit $code
"""

import time

import torch
import torch.distributed as dist
from labkit import SEED, pick
from mmengine.config import Config
from mmengine.model import BaseModel
from mmengine.registry import DATASETS, MODELS
from mmengine.runner import Runner
from torch import nn
from torch.utils.data import Dataset


@DATASETS.register_module()
class CharacterBlocks(Dataset):
    metainfo = {}
    text = "the quick brown fox jumps over the lazy dog and the dog sleeps on " * 200

    def __init__(self, block):
        self.codes = torch.tensor([ord(character) - 32 for character in self.text])
        self.block = block

    def __len__(self):
        return len(self.codes) // self.block - 1

    def __getitem__(self, index):
        time.sleep(0.01)
        return dict(codes=self.codes[index * self.block:(index + 1) * self.block + 1])


@MODELS.register_module()
class CharLSTM(BaseModel):
    def __init__(self, hidden):
        super().__init__()
        self.embedding, self.lstm, self.output = nn.Embedding(96, hidden), nn.LSTM(hidden, hidden, batch_first=True), nn.Linear(hidden, 96)

    def forward(self, codes, mode="tensor"):
        logits = self.output(self.lstm(self.embedding(codes[:, :-1]))[0])
        return dict(loss=nn.functional.cross_entropy(logits.transpose(1, 2), codes[:, 1:]))


dist.init_process_group("gloo")
cfg = Config(dict(
    model=dict(type="CharLSTM", hidden=pick([32, 48, 40])),
    model_wrapper_cfg=dict(type="MMDistributedDataParallel", device_ids=None),
    train_dataloader=dict(batch_size=4, num_workers=0, dataset=dict(type="CharacterBlocks", block=32), sampler=dict(type="InfiniteSampler", shuffle=True), collate_fn=dict(type="default_collate")),
    train_cfg=dict(by_epoch=False, max_iters=3000),
    optim_wrapper=dict(optimizer=dict(type="AdamW", lr=3e-3)),
    default_hooks=dict(logger=dict(type="LoggerHook", interval=10)),
    log_processor=dict(by_epoch=False),
    env_cfg=dict(dist_cfg=dict(backend="gloo")), work_dir="work_dirs/chars", launcher="pytorch", randomness=dict(seed=SEED),
))
Runner.from_cfg(cfg).train()
