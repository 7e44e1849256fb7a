r"""Predictions of the last, shorter batch are gathered without padding; with accelerate's debug mode the differing shapes are named.

environment: transformers
cause: distributed.rank-desync
also: [code.shape-mismatch]
not: [distributed.nccl-timeout, data.collation, distributed.peer-failure]
signature: 'DistributedOperationException: '
variables: {ACCELERATE_DEBUG_MODE: 1}
runs_as: evaluate.py
launch: torchrun --standalone --nproc-per-node 2 evaluate.py
"""

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from labkit import SEED, pick
from torch import nn

accelerator = Accelerator(cpu=True)
set_seed(SEED)
model = nn.Sequential(nn.Linear(12, 24), nn.ReLU(), nn.Linear(24, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = accelerator.prepare(model, optimizer)
data = torch.randn(pick([61, 45, 77]), 12)
mine = data[accelerator.process_index::2]
for epoch in range(3):
    for batch in mine[:16].split(8):
        loss = nn.functional.cross_entropy(model(batch), batch[:, :3].argmax(1))
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
    accelerator.print(f"epoch {epoch}: train loss {loss.item():.4f}")
accelerator.print(f"evaluating {len(data)} rows on {accelerator.num_processes} processes")
predictions = []
for batch in mine.split(8):
    with torch.no_grad():
        predictions.append(accelerator.gather(model(batch).argmax(1)))
accelerator.print(f"accuracy {(torch.cat(predictions) == 0).float().mean().item():.3f}")
