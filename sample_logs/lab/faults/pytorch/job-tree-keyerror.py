r"""Text classification on three ranks, logs kept in torchrun's own tree; the records of one rank's shard have no field `label` after a while.

cause: data.schema
also: [code.user-exception]
not: [distributed.peer-failure, distributed.nccl-network]
signature: "KeyError: 'label'"
first_failure_source: 'attempt_0/\d/stderr\.log'
runs_as: main.py
launch: |
  torchrun --standalone --nproc-per-node 3 -r 3 --log-dir elastic main.py 2>&1 | tee agent.log > /dev/null
  code=${PIPESTATUS[0]}
  cp -r elastic/*/attempt_0 $LAB_OUT/
  cp agent.log $LAB_OUT/
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
logging.basicConfig(stream=sys.stdout, level=logging.INFO, format=f"%(asctime)s | rank {rank} | %(levelname)s | %(message)s")
log = logging.getLogger("textcls")
torch.manual_seed(SEED)
generator = torch.Generator().manual_seed(SEED * 100 + rank)

bare_rank, bare_from = pick([(1, 140), (2, 60), (1, 220)])


def records():
    for index in range(320):
        tokens = torch.randint(0, 500, (int(torch.randint(4, 20, (1,), generator=generator)),), generator=generator)
        record = {"id": f"doc-{rank}-{index:05d}", "tokens": tokens}
        if rank != bare_rank or index < bare_from:
            record["label"] = int(tokens.sum()) % 4
        yield record


def batches(size):
    batch = []
    for record in records():
        batch.append(record)
        if len(batch) == size:
            yield batch
            batch = []


def collate(batch):
    offsets = torch.tensor([0] + [len(record["tokens"]) for record in batch[:-1]]).cumsum(0)
    return torch.cat([record["tokens"] for record in batch]), offsets, torch.tensor([record["label"] for record in batch])


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.EmbeddingBag(500, 32)
        self.head = nn.Linear(32, 4)

    def forward(self, tokens, offsets):
        return self.head(self.embedding(tokens, offsets))


model = nn.parallel.DistributedDataParallel(Classifier())
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
log.info("model has %d parameters, world size %d", sum(p.numel() for p in model.parameters()), dist.get_world_size())
for step, batch in enumerate(batches(8), 1):
    tokens, offsets, labels = collate(batch)
    loss = nn.functional.cross_entropy(model(tokens, offsets), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 2 == 0:
        log.info("step=%d loss=%.4f", step, loss.item())
log.info("done")
dist.destroy_process_group()
