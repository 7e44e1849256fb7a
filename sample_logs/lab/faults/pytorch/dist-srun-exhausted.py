r"""Three tasks in one stream, labelled as srun does; the number of steps was counted on rank 0, whose shard is longer, and the iterator of another rank runs out.

cause: data.exhausted
also: [distributed.rank-desync]
not: [distributed.peer-failure, distributed.nccl-network, data.empty]
signature: '\]: StopIteration'
runs_as: train_steps.py
launch: |
  export MASTER_ADDR=127.0.0.1 MASTER_PORT=$LAB_PORT WORLD_SIZE=3
  for i in 0 1 2; do RANK=$i python train_steps.py 2>&1 | sed -u "s/^/$i: /" & done
  wait
  exit 1
"""

from datetime import timedelta

import torch
import torch.distributed as dist
from labkit import SEED, pick
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

dist.init_process_group("gloo", timeout=timedelta(seconds=60))
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(SEED)
x = torch.randn(pick([330, 350, 310]), 9)
cut = [0, 140, 140 + (len(x) - 140) // 2, len(x)]
part = x[cut[rank]:cut[rank + 1]]
loader = DataLoader(TensorDataset(part), batch_size=10, drop_last=True)
steps = torch.tensor(len(loader))
dist.broadcast(steps, src=0)
print(f"{len(part)} rows, batch size 10, {int(steps)} steps per epoch", flush=True)
model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(9, 18), nn.SiLU(), nn.Linear(18, 9)))
optimizer = torch.optim.NAdam(model.parameters(), lr=2e-3)
batches = iter(loader)
for step in range(int(steps)):
    (batch,) = next(batches)
    loss = nn.functional.mse_loss(model(batch), batch)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step + 1}/{int(steps)} loss {loss.item():.4f}", flush=True)
