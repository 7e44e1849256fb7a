r"""Four tasks started the way srun does, every line labelled with its task number, standard output and error in two files; the shard list names one file that was never copied.

cause: data.missing-file
not: [distributed.peer-failure, io.storage, distributed.launcher]
signature: 'FileNotFoundError: \[Errno 2\]'
first_failure_source: '\.err$'
runs_as: train.py
launch: |
  out=$LAB_OUT/slurm-48213.out; err=$LAB_OUT/slurm-48213.err
  export MASTER_ADDR=127.0.0.1 MASTER_PORT=$LAB_PORT WORLD_SIZE=4
  for i in 0 1 2 3; do
    { RANK=$i LOCAL_RANK=$i SLURM_PROCID=$i python train.py 2>&1 1>&3 | sed -u "s/^/$i: /" >> $err; exit ${PIPESTATUS[0]}; } 3>&1 | sed -u "s/^/$i: /" >> $out &
  done
  wait
  ! grep -q Traceback $err
"""

import os
from datetime import timedelta
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
from labkit import SEED, pick
from torch import nn

dist.init_process_group("gloo", timeout=timedelta(seconds=60))
rank, world = dist.get_rank(), dist.get_world_size()
shards = [f"shards/part-{index:05d}.npy" for index in range(12)]
lost = pick([6, 9, 3])
if rank == 0:
    Path("shards").mkdir(exist_ok=True)
    for index, name in enumerate(shards):
        if index != lost:
            np.save(name, np.random.default_rng(index).normal(size=(96, 20)).astype("float32"))
dist.barrier()
mine = shards[rank::world]
print(f"task {rank} on {os.environ.get('SLURMD_NODENAME', 'local')}: {len(mine)} shards: {', '.join(Path(name).stem for name in mine)}", flush=True)

torch.manual_seed(SEED)
encoder = nn.Sequential(nn.Linear(20, 12), nn.Tanh(), nn.Linear(12, 3))
decoder = nn.Sequential(nn.Linear(3, 12), nn.Tanh(), nn.Linear(12, 20))
model = nn.parallel.DistributedDataParallel(nn.Sequential(encoder, decoder))
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
for number, name in enumerate(mine):
    rows = torch.from_numpy(np.load(name))
    for step, batch in enumerate(rows.split(16)):
        loss = (model(batch) - batch).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"shard {number} batch {step} rec_loss={loss.item():.5f}", flush=True)
if rank == 0:
    torch.save(model.module.state_dict(), "autoencoder.pt")
