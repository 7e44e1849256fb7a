r"""The run finishes, but with the noise that such runs have: a deprecated launcher, a thread notice, socket messages, an idle find_unused_parameters, a store that is not closed in order.

cause: healthy.completed
also: [healthy.running]
not: [distributed.peer-failure, distributed.rendezvous, distributed.port-in-use, distributed.nccl-network, distributed.launcher]
outcome: completed
step_basis: epoch
variables: {TORCH_CPP_LOG_LEVEL: INFO}
runs_as: train_lenet.py
launch: |
  unset OMP_NUM_THREADS
  python -m torch.distributed.launch --nproc_per_node 2 --master_port $LAB_PORT train_lenet.py
"""

import argparse
import os
from datetime import timedelta

import torch
import torch.distributed as dist
from labkit import SEED, note, pick
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--local-rank", type=int, default=0)
args = parser.parse_args()
dist.init_process_group("gloo", timeout=timedelta(seconds=90))
torch.manual_seed(SEED)
labels = torch.arange(256) % 2
images = torch.rand(256, 1, 12, 12)
images[labels == 1, :, :6] += 0.4
model = nn.Sequential(nn.Conv2d(1, 6, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(96, 2))
model = nn.parallel.DistributedDataParallel(model, find_unused_parameters=True)
optimizer = torch.optim.SGD(model.parameters(), lr=pick([0.05, 0.03, 0.08]), momentum=0.9)
data = torch.utils.data.TensorDataset(images, labels)
sampler = torch.utils.data.DistributedSampler(data, seed=SEED)
loader = torch.utils.data.DataLoader(data, batch_size=16, sampler=sampler, num_workers=1)
for epoch in range(1, 6):
    sampler.set_epoch(epoch)
    total = 0.0
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    if args.local_rank == 0:
        print(f"Epoch {epoch}/5 train_loss={total / len(loader):.4f}", flush=True)
        note("loss", epoch, float(f"{total / len(loader):.4f}"))
if args.local_rank == 0:
    torch.save(model.module.state_dict(), "lenet.pt")
    print(f"saved lenet.pt ({os.path.getsize('lenet.pt')} bytes)", flush=True)
