"""The account may have few processes (ulimit -u); starting the DataLoader's workers fails.

cause: io.file-limit
also: []
not: [memory.host-oom, data.worker-crash, io.permission]
signature: '(Resource temporarily unavailable|can.t start new thread)'
runs_as: train.py
# The limit counts an account's processes, so the run gets an account of its own; it keeps root's right to read the lab's files.
launch: |
  setpriv --reuid $((10000 + $$)) --inh-caps +dac_override --ambient-caps +dac_override bash -c 'ulimit -u 12; echo "max user processes: $(ulimit -u)"; exec python train.py --workers 32'
needs: [root]
"""

import argparse

import torch
from labkit import pick, seed_everything
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--workers", type=int, default=4)
args = parser.parse_args()
seed_everything()
rows = pick([4096, 2048, 8192])
loader = DataLoader(TensorDataset(torch.randn(rows, 10), torch.randint(0, 2, (rows,))), batch_size=64, shuffle=True, num_workers=args.workers)
model = nn.Sequential(nn.Linear(10, 32), nn.LeakyReLU(), nn.Linear(32, 2))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=pick([0.01, 0.1, 0.0]))
print(f"Namespace(workers={args.workers}), {rows} samples, {len(loader)} batches")
print(f"Total params: {sum(p.numel() for p in model.parameters())}")
for epoch in range(1, 6):
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"Train Epoch: {epoch} Loss: {loss.item():.6f}")
