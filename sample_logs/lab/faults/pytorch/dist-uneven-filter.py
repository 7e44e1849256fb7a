r"""Two ranks; long samples are filtered out after sharding, so one rank has fewer batches. It goes on to its final barrier while the other still reduces gradients, and the collectives time out.

cause: distributed.rank-desync
also: [distributed.nccl-timeout]
not: [distributed.nccl-network, distributed.peer-failure, hang.stalled]
signature: 'Timed out waiting \d+ms for recv operation'
seconds: 150
runs_as: train_tagger.py
launch: torchrun --standalone --nproc-per-node 2 train_tagger.py
"""

import sys
from datetime import timedelta

import torch
import torch.distributed as dist
from labkit import SEED, pick
from torch import nn

dist.init_process_group("gloo", timeout=timedelta(seconds=60))
rank, world = dist.get_rank(), dist.get_world_size()


def say(text):
    sys.stdout.write(f"[rank {rank}] {text}\n")


limit = pick([40, 36, 44])
lengths = [20 + (index * 7) % 30 for index in range(320)][rank::world]
lengths = lengths if rank else [length - 12 for length in lengths]
kept = [length for length in lengths if length <= limit]
batches = [kept[start:start + 8] for start in range(0, len(kept) // 8 * 8, 8)]
say(f"{len(lengths)} sentences, {len(kept)} with at most {limit} tokens, {len(batches)} batches")
torch.manual_seed(SEED)


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(200, 16)
        self.rnn = nn.GRU(16, 16, bidirectional=True, batch_first=True)
        self.head = nn.Linear(32, 5)

    def forward(self, tokens):
        return self.head(self.rnn(self.embedding(tokens))[0])


tagger = Tagger()
optimizer = torch.optim.Adam(tagger.parameters(), lr=3e-3)
model = nn.parallel.DistributedDataParallel(tagger, process_group=dist.new_group(timeout=timedelta(seconds=15)))
dist.barrier()
for index, batch in enumerate(batches, 1):
    tokens = torch.randint(0, 200, (len(batch), max(batch)))
    loss = nn.functional.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten() % 5)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if index % 2 == 0 or index == len(batches):
        say(f"batch {index}/{len(batches)} loss {loss.item():.4f}")
say("epoch done, waiting for the others")
dist.barrier()
if rank == 0:
    torch.save(tagger.state_dict(), "tagger.pt")
