r"""Three ranks; one meets a batch without audio and skips that branch of the model, so DDP finds parameters without gradient on that rank only. The others lose it in the all-reduce.

cause: distributed.ddp-unused-parameters
not: [distributed.peer-failure, distributed.rank-desync, distributed.nccl-timeout]
signature: 'RuntimeError: Expected to have finished reduction in the prior iteration'
first_failure_source: 'log-r\d\.err'
runs_as: multimodal.py
launch: |
  torchrun --standalone --nproc-per-node 3 --redirects 3 --log-dir elastic multimodal.py > agent.err 2>&1
  code=$?
  for r in 0 1 2; do cp elastic/*/attempt_0/$r/stdout.log $LAB_OUT/log-r$r.out; cp elastic/*/attempt_0/$r/stderr.log $LAB_OUT/log-r$r.err; done
  cp agent.err $LAB_OUT/
  exit $code
"""

import logging
import sys
from datetime import timedelta

import torch
import torch.distributed as dist
from labkit import SEED, pick
from torch import nn

dist.init_process_group("gloo", timeout=timedelta(seconds=60))
rank = dist.get_rank()
logging.basicConfig(stream=sys.stdout, level=logging.INFO, format=f"%(levelname)s:rank{rank}:%(message)s")
torch.manual_seed(SEED)


class TwoTowers(nn.Module):
    def __init__(self):
        super().__init__()
        self.video = nn.Sequential(nn.Linear(32, 24), nn.ReLU())
        self.audio = nn.Sequential(nn.Linear(12, 24), nn.ReLU())
        self.head = nn.Linear(24, 6)

    def forward(self, video, audio=None):
        hidden = self.video(video)
        if audio is not None:
            hidden = hidden + self.audio(audio)
        return self.head(hidden)


silent = pick([(2, 9), (1, 14), (2, 5)])
model = nn.parallel.DistributedDataParallel(TwoTowers())
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
logging.info("two towers, %d parameter tensors", len(list(model.parameters())))
for step in range(1, 31):
    batch = {"video": torch.randn(8, 32), "audio": torch.randn(8, 12), "label": torch.randint(0, 6, (8,))}
    if (rank, step) == silent:
        batch["audio"] = None
    loss = nn.functional.cross_entropy(model(batch["video"], batch["audio"]), batch["label"])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    logging.info("step %03d loss %.4f audio=%s", step, loss.item(), batch["audio"] is not None)
dist.destroy_process_group()
