r"""Four ranks train to the end, every stream in its own file, the launcher's log empty but for its notices.

cause: healthy.completed
also: [healthy.running]
not: [distributed.peer-failure, performance.slow, learning.plateau]
outcome: completed
runs_as: train.py
launch: |
  torchrun --standalone --nproc-per-node 4 --redirects 3 --log-dir logs train.py --epochs 3 > agent.log 2>&1
  code=$?
  for r in 0 1 2 3; do cat logs/*/attempt_0/$r/std*.log > $LAB_OUT/rank$r.log; done
  cp agent.log $LAB_OUT/agent.log
  exit $code
"""

import argparse
import logging
import sys
from datetime import timedelta

import torch
import torch.distributed as dist
from labkit import SEED, pick
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=3)
parser.add_argument("--lr", type=float, default=pick([0.05, 0.02, 0.1]))
parser.add_argument("--batch-size", type=int, default=16)
args = parser.parse_args()
dist.init_process_group("gloo", timeout=timedelta(seconds=90))
rank, world = dist.get_rank(), dist.get_world_size()
logging.basicConfig(stream=sys.stdout, level=logging.INFO, format=f"%(asctime)s rank{rank} %(levelname)s %(message)s")
torch.manual_seed(SEED)
x = torch.randn(640, 12)
y = (x[:, :3].sum(1) > 0).long()
logging.info("arguments: %s", vars(args))
logging.info("initialised process group: rank %d of %d, backend %s", rank, world, dist.get_backend())
sampler = DistributedSampler(range(640), shuffle=True, seed=SEED)
loader = DataLoader(TensorDataset(x, y), batch_size=args.batch_size, sampler=sampler)
model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 2)))
optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
step = 0
for epoch in range(args.epochs):
    sampler.set_epoch(epoch)
    correct = torch.zeros(1)
    for inputs, labels in loader:
        logits = model(inputs)
        loss = nn.functional.cross_entropy(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        correct += (logits.argmax(1) == labels).sum()
        step += 1
        if step % 2 == 0:
            logging.info("epoch %d step %d loss %.4f", epoch, step, loss.item())
    dist.all_reduce(correct)
    logging.info("epoch %d done: train accuracy %.4f", epoch, correct.item() / 640)
if rank == 0:
    torch.save(model.module.state_dict(), "model.pt")
    logging.info("saved model.pt")
dist.barrier()
dist.destroy_process_group()
logging.info("exiting")
