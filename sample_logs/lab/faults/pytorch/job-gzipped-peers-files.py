r"""Three worker logs, those of the finished workers already compressed by log rotation; one worker keeps every shard open and meets its limit of open files.

cause: io.file-limit
not: [distributed.peer-failure, io.storage, memory.host-oom]
signature: 'OSError: \[Errno 24\] Too many open files'
first_failure_source: 'worker-\d\.log$'
note: 'the logs of the other two workers are gzip-compressed'
runs_as: train_embeddings.py
launch: |
  export MASTER_ADDR=127.0.0.1 MASTER_PORT=$LAB_PORT WORLD_SIZE=3
  pids=
  for i in 0 1 2; do (ulimit -n $((i == 1 ? 64 : 1024)); RANK=$i exec python train_embeddings.py > worker-$i.log 2>&1) & pids="$pids $!"; done
  code=0; for p in $pids; do wait $p || code=$?; done
  for i in 0 2; do sed "s#$PWD#/workspace/run#; s#$VIRTUAL_ENV#/opt/venv#" worker-$i.log | gzip -n > $LAB_OUT/worker-$i.log.gz; done
  cp worker-1.log $LAB_OUT/
  exit $code
"""

import resource
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist
from labkit import SEED, pick
from torch import nn

dist.init_process_group("gloo", timeout=timedelta(seconds=60))
rank = dist.get_rank()
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
print(f"worker {rank}: start, {torch.get_num_threads()} threads, open files limit {soft}")
folder = Path(f"shards-{rank}")
folder.mkdir()
count = pick([80, 72, 96])
for index in range(count):
    (folder / f"{index:04d}.txt").write_text(" ".join(str((index * 17 + k * 5) % 200) for k in range(33)))
torch.manual_seed(SEED)


class SkipGram(nn.Module):
    def __init__(self):
        super().__init__()
        self.centre, self.context = nn.Embedding(200, 16), nn.Embedding(200, 16)

    def forward(self, centre, context):
        return self.centre(centre) @ self.context(context).T


model = nn.parallel.DistributedDataParallel(SkipGram())
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
handles = {}
for step in range(count):
    name = folder / f"{step:04d}.txt"
    handles[name] = open(name)
    words = torch.tensor([int(word) for word in handles[name].read().split()])
    scores = model(words[:-1], words[1:])
    loss = nn.functional.cross_entropy(scores, torch.arange(len(scores)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 4 == 0:
        print(f"worker {rank}: step {step} of {count}, loss {loss.item():.4f}")
print(f"worker {rank}: done")
