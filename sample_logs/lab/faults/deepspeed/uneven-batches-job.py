"""The records were split by file, so rank 0 has more batches than rank 1: rank 1 ends its epoch and exits, rank 0 waits in a collective for it and loses the connection.

cause: distributed.rank-desync
seconds: 300
also: [distributed.peer-failure, data.exhausted]
not: [distributed.nccl-network, distributed.port-in-use, distributed.rendezvous, healthy.completed]
signature: 'RuntimeError: .*(Connection closed by peer|Connection reset by peer|Timed out)'
first_failure: 'RuntimeError: .*(Connection closed by peer|Connection reset by peer|Timed out)'
first_failure_source: 'rank0'
launch: |
  deepspeed --num_gpus 2 --enable_each_rank_log logs --master_port $LAB_PORT pretrain_shards.py > launcher.log 2>&1
  status=$?
  for file in logs/*_rank*.log; do cp "$file" "$LAB_OUT/rank${file##*_rank}"; done
  cp launcher.log "$LAB_OUT/"
  exit $status
runs_as: pretrain_shards.py
"""

import argparse

import deepspeed
import torch
from labkit import pick, seed_everything
from torch import nn

deepspeed.ops.__compatible_ops__ = {}  # gloo alone; else DeepSpeed would first compile its shared-memory all-reduce
parser = argparse.ArgumentParser()
parser.add_argument("--local_rank", type=int, default=-1)
rank = parser.parse_args().local_rank
seed_everything()
shard = torch.randint(0, 64, (pick([[208, 192], [176, 96], [260, 256]])[rank], 17))
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(shard), batch_size=8, drop_last=False)
model = nn.Sequential(nn.Embedding(64, 32), nn.Linear(32, 64))
engine, _, _, _ = deepspeed.initialize(
    model=model,
    optimizer=torch.optim.AdamW(model.parameters(), lr=1e-3),
    config={"train_micro_batch_size_per_gpu": 8, "zero_optimization": {"stage": pick([2, 1, 2])}, "bf16": {"enabled": True}},
)
print(f"[{rank}] shard {rank}: {len(shard)} sequences, {len(loader)} batches")
for step, (tokens,) in enumerate(loader):
    loss = nn.functional.cross_entropy(engine(tokens[:, :-1]).float().flatten(0, 1), tokens[:, 1:].flatten())
    engine.backward(loss)
    engine.step()
    print(f"[{rank}] step {step + 1}/{len(loader)} loss {loss.item():.4f}")
print(f"[{rank}] epoch finished")
