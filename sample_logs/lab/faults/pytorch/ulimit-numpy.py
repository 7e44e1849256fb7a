"""Every epoch precomputes one more set of augmented features in numpy; under a limit on address space numpy cannot allocate the next one.

cause: memory.host-oom
not: [memory.cuda-oom, memory.shm-exhausted, data.decode]
signature: '(ArrayMemoryError: Unable to allocate|^MemoryError)'
memory_mib: 8000
runs_as: precompute_and_train.py
step_basis: epoch
"""

import numpy as np
import torch
from labkit import note, pick, seed_everything

seed_everything()
ROWS = pick([9_000_000, 7_000_000, 5_500_000])
base = np.random.default_rng(0).standard_normal((2000, 24), dtype=np.float32)
weight = base.sum(1, keepdims=True)
sets = []
model = torch.nn.Linear(24, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=5e-3)
for epoch in range(12):
    features = np.empty((ROWS, 24), dtype=np.float64)
    features[:2000] = base + 0.01 * epoch
    sets.append(features)
    print(f"epoch {epoch}: {len(sets)} feature sets, {sum(part.nbytes for part in sets) / 2**30:.2f} GiB in all")
    total = 0.0
    for start in range(0, 2000, 100):
        chunk = torch.from_numpy(features[start:start + 100]).float()
        loss = torch.nn.functional.mse_loss(model(chunk), torch.from_numpy(weight[start:start + 100]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch}: mean loss {total / 20:.4f}")
    note("loss", epoch, float(f"{total / 20:.4f}"))
