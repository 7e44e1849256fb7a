r"""Two nodes, one agent log each; every node caches its tokenised shard on its local scratch disk, and on node 1 that disk is full.

cause: io.disk-full
not: [distributed.peer-failure, distributed.rendezvous, distributed.nccl-network]
signature: 'OSError: \[Errno 28\] No space left on device'
first_failure_source: 'node1\.log'
needs: [tmpfs]
runs_as: pretrain.py
launch: |
  unshare -m bash -c '
  mkdir -p scratch0 scratch1
  mount -t tmpfs -o size=64m scratch scratch0
  mount -t tmpfs -o size=1m scratch scratch1
  pids=
  for n in 0 1; do
    SCRATCH=$PWD/scratch$n torchrun --nnodes 2 --node-rank $n --nproc-per-node 1 --master-addr 127.0.0.1 --master-port $LAB_PORT pretrain.py > $LAB_OUT/node$n.log 2>&1 &
    pids="$pids $!"
  done
  code=0; for p in $pids; do wait $p || code=$?; done; exit $code'
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
rank, world, node = dist.get_rank(), dist.get_world_size(), int(os.environ["GROUP_RANK"])
scratch = Path(os.environ["SCRATCH"])
block = pick([128, 256, 64])
print(f"node {node} rank {rank}/{world}: cache in {scratch.name}, block size {block}")
vocabulary = 256
torch.manual_seed(SEED)


class LanguageModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, 48)
        self.rnn = nn.GRU(48, 64, batch_first=True)
        self.head = nn.Linear(64, vocabulary)

    def forward(self, tokens):
        return self.head(self.rnn(self.embedding(tokens))[0])


def tokenise(part):
    generator = np.random.default_rng(SEED * 1000 + rank * 100 + part)
    tokens = generator.integers(0, vocabulary, size=(pick([220, 120, 500]), block + 1), dtype=np.int64)
    path = scratch / f"tokens-{rank:02d}-{part:03d}.bin"
    with open(path, "wb") as sink:
        sink.write(tokens.tobytes())
    return torch.from_numpy(tokens)


model = nn.parallel.DistributedDataParallel(LanguageModel())
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
step = 0
for part in range(10):
    tokens = tokenise(part)
    print(f"node {node} rank {rank}: cached part {part}: {tuple(tokens.shape)}")
    for batch in tokens[:12].split(4):
        step += 1
        logits = model(batch[:, :-1])
        loss = nn.functional.cross_entropy(logits.reshape(-1, vocabulary), batch[:, 1:].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if rank == 0:
            print(f"iter {step}: loss {loss.item():.4f}, ppl {loss.exp().item():.1f}")
dist.destroy_process_group()
