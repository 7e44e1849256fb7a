r"""Three ranks; rank 0 validates alone for longer than the time-out of the collective in which the others wait.

cause: distributed.nccl-timeout
also: [distributed.rank-desync]
not: [distributed.nccl-network, distributed.peer-failure, hang.stalled]
signature: 'Timed out waiting \d+ms for recv operation'
first_failure_source: 'gpu_?[12]|worker[12]'
seconds: 150
runs_as: train_classifier.py
launch: |
  export MASTER_ADDR=127.0.0.1 MASTER_PORT=$LAB_PORT WORLD_SIZE=3
  pids=
  for i in 0 1 2; do RANK=$i python train_classifier.py > $LAB_OUT/worker$i.log 2>&1 & pids="$pids $!"; done
  code=0; for p in $pids; do wait $p || code=$?; done; exit $code
"""

import time
from datetime import timedelta

import torch
import torch.distributed as dist
from labkit import SEED, pick
from torch import nn

dist.init_process_group("gloo", timeout=timedelta(seconds=60))
rank = dist.get_rank()
torch.manual_seed(SEED)
limit = pick([12, 14, 10])
training = dist.new_group(backend="gloo", timeout=timedelta(seconds=limit))
network = nn.Sequential(nn.Linear(40, 80), nn.ReLU(), nn.Linear(80, 8))
optimizer = torch.optim.AdamW(network.parameters(), lr=2e-3)
model = nn.parallel.DistributedDataParallel(network, process_group=training)
print(f"worker {rank}: collective timeout {limit}s", flush=True)
dist.barrier()


def validate(step):
    """Generation is slow: one sample at a time."""
    hits = 0
    for sample in range(200):
        x = torch.randn(40)
        hits += int(network(x).argmax() == x[:8].argmax())
        time.sleep(0.2)
        if sample % 10 == 9:
            print(f"validation at step {step}: {sample + 1}/200 samples, accuracy {hits / (sample + 1):.3f}", flush=True)


for step in range(1, 31):
    x = torch.randn(32, 40)
    loss = nn.functional.cross_entropy(model(x), x[:, :8].argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"worker {rank}: step {step} loss {loss.item():.4f}", flush=True)
    if rank == 0 and step % pick([10, 8, 12]) == 0:
        validate(step)
