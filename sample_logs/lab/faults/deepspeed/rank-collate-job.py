"""A job of four ranks with a log each: in rank 1's share one sample is longer than the others, and stacking the batch fails there.

cause: data.collation
seconds: 300
not: [distributed.peer-failure, distributed.rank-desync, code.shape-mismatch, distributed.nccl-timeout]
signature: 'RuntimeError: stack expects each tensor to be equal size'
first_failure: 'RuntimeError: stack expects each tensor to be equal size'
first_failure_source: 'rank1'
launch: |
  deepspeed --num_gpus 4 --enable_each_rank_log=ranks --master_port $LAB_PORT src/train_audio.py > "$LAB_OUT/job.out" 2>&1
  status=$?
  for file in ranks/*_rank*.log; do cp "$file" "$LAB_OUT/rank${file##*_rank}"; done
  exit $status
runs_as: src/train_audio.py
"""

import argparse
import logging
import sys

import deepspeed
import torch
from labkit import pick, seed_everything
from torch import nn

deepspeed.ops.__compatible_ops__ = {}  # gloo alone; else DeepSpeed would first compile its shared-memory all-reduce
parser = argparse.ArgumentParser()
parser.add_argument("--local_rank", type=int, default=-1)
args = parser.parse_args()
logging.basicConfig(stream=sys.stdout, level=logging.INFO, format=f"%(asctime)s [rank {args.local_rank}] %(levelname)s %(message)s")
seed_everything()
deepspeed.init_distributed()
rank, world = torch.distributed.get_rank(), torch.distributed.get_world_size()


class Clips(torch.utils.data.Dataset):
    """One-second clips; the file list has one clip that was not cut."""

    def __len__(self):
        return 480

    def __getitem__(self, index):
        length = 1600 if index != 4 * pick([61, 90, 33]) + 1 else pick([4800, 1601, 2400])
        generator = torch.Generator().manual_seed(index)
        return torch.randn(1, length, generator=generator), index % 6


net = nn.Sequential(nn.Conv1d(1, 8, 9, stride=4), nn.ReLU(), nn.AdaptiveAvgPool1d(8), nn.Flatten(), nn.Linear(64, 6))
engine, _, _, _ = deepspeed.initialize(model=net, optimizer=torch.optim.AdamW(net.parameters(), lr=1e-3), config={"train_batch_size": 16, "zero_optimization": {"stage": 2}})
clips = Clips()
sampler = torch.utils.data.DistributedSampler(clips, shuffle=False)
loader = torch.utils.data.DataLoader(clips, batch_size=4, sampler=sampler, num_workers=0)
logging.info("clips %d, batches %d, world size %d", len(clips), len(loader), world)
for epoch in range(2):
    for step, (audio, label) in enumerate(loader, 1):
        loss = nn.functional.cross_entropy(engine(audio), label)
        engine.backward(loss)
        engine.step()
        if step % 3 == 0:
            logging.info("epoch %d step %d/%d loss %.4f", epoch, step, len(loader), loss.item())
