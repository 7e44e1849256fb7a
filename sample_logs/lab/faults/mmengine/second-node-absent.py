r"""torchrun on the first of two nodes: the second node's process never starts, and the first waits in the rendezvous without a word; only the job script's monitor writes.

cause: hang.startup
also: [distributed.rendezvous]
not: [hang.stalled, healthy.running, distributed.nccl-timeout]
outcome: stalled
ends: time limit
seconds: 25
runs_as: train.py
launch: |
  nodes=(2 4 3)
  export MASTER_ADDR=127.0.0.1 MASTER_PORT=$LAB_PORT
  while sleep 4; do echo "[monitor] $(date +%T) processes $(ps -e | wc -l) load $(cut -d' ' -f1-3 /proc/loadavg)"; done &
  echo "node 0 of ${nodes[LAB_SEED]}, master $MASTER_ADDR:$MASTER_PORT"
  set -x
  torchrun --nnodes=${nodes[LAB_SEED]} --node_rank=0 --nproc_per_node=1 --master_addr=$MASTER_ADDR --master_port=$MASTER_PORT train.py --launcher pytorch
"""

import argparse

import torch
import torch.distributed as dist
from mmengine.model import BaseModel
from mmengine.runner import Runner
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Linear(BaseModel):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 1)

    def forward(self, features, target, mode="tensor"):
        return dict(loss=(self.layer(features) - target).square().mean())


parser = argparse.ArgumentParser()
parser.add_argument("--launcher", default="none")
args = parser.parse_args()
dist.init_process_group("gloo")
features = torch.randn(256, 4)
runner = Runner(Linear(), "work_dirs/linear", train_dataloader=DataLoader(TensorDataset(features, features.sum(1, keepdim=True)), batch_size=16), train_cfg=dict(by_epoch=True, max_epochs=2),
                optim_wrapper=dict(optimizer=dict(type="SGD", lr=0.1)), launcher=args.launcher, env_cfg=dict(dist_cfg=dict(backend="gloo")))
runner.train()
