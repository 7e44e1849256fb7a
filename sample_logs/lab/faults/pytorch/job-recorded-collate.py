r"""The entry point is wrapped by `record`, so torchrun's summary and an error file carry the traceback of the rank whose samples cannot be stacked.

cause: data.collation
also: [code.shape-mismatch]
not: [distributed.peer-failure, distributed.launcher, distributed.nccl-network]
signature: 'RuntimeError: stack expects each tensor to be equal size'
first_failure_source: 'rank\d/stderr\.log'
note: 'error.json of that rank and the launcher''s summary repeat the exception'
runs_as: train_seq2vec.py
launch: |
  torchrun --standalone --nproc-per-node 3 --redirects 3 --log-dir logs train_seq2vec.py > torchrun.log 2>&1
  code=$?
  for r in 0 1 2; do cp -r logs/*/attempt_0/$r $LAB_OUT/rank$r; done
  cp torchrun.log $LAB_OUT/
  exit $code
"""

from datetime import timedelta

import torch
import torch.distributed as dist
from labkit import SEED, pick
from torch import nn
from torch.distributed.elastic.multiprocessing.errors import record
from torch.utils.data import DataLoader, Dataset


class Sentences(Dataset):
    def __init__(self, rank, count=200, longest=24):
        self.longest = longest
        self.generator = torch.Generator().manual_seed(SEED * 7 + rank)
        # A few documents of this rank's shard were not cut to the longest length.
        self.extra = pick([131, 77, 158]) if rank == pick([1, 2, 1]) else None
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        size = self.longest + (index % 5 + 1 if index == self.extra else 0)
        tokens = torch.randint(1, 300, (size,), generator=self.generator)
        return {"input_ids": tokens, "label": int(tokens[0]) % 3}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(300, 32)
        self.layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)
        self.head = nn.Linear(32, 3)

    def forward(self, input_ids):
        return self.head(self.layer(self.embedding(input_ids)).mean(1))


@record
def main():
    dist.init_process_group("gloo", timeout=timedelta(seconds=60))
    rank = dist.get_rank()
    torch.manual_seed(SEED)
    model = nn.parallel.DistributedDataParallel(Model())
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4)
    loader = DataLoader(Sentences(rank), batch_size=10)
    print({"rank": rank, "world_size": dist.get_world_size(), "batches": len(loader), "lr": 5e-4})
    for step, batch in enumerate(loader):
        loss = nn.functional.cross_entropy(model(batch["input_ids"]), batch["label"])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print({"step": step, "loss": round(loss.item(), 4), "lr": 5e-4})
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
