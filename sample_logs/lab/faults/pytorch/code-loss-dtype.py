"""Class ids are stored in the wrong dtype (float, int32) and the loss wants another; the first batch fails.

cause: code.dtype-mismatch
also: [data.schema, code.user-exception]
not: [code.shape-mismatch, cuda.device-side-assert, data.collation]
signature: 'RuntimeError: .*(scalar type|dtype|desired output type|not implemented for)'
runs_as: train.py
"""

import logging

import numpy as np
import torch
from labkit import pick, seed_everything
from torch import nn
from torch.utils.data import DataLoader, Dataset

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
log = logging.getLogger("train")
seed_everything()
STORED = pick([np.float32, np.int32, np.float64])


class Spectra(Dataset):
    def __init__(self, n):
        self.values = np.random.randn(n, 1, 64).astype(np.float32)
        self.kinds = np.random.randint(0, 5, n).astype(STORED)

    def __len__(self):
        return len(self.values)

    def __getitem__(self, i):
        return torch.from_numpy(self.values[i]), torch.tensor(self.kinds[i])


model = nn.Sequential(nn.Conv1d(1, 8, 5, padding=2), nn.ReLU(), nn.AdaptiveAvgPool1d(8), nn.Flatten(), nn.Linear(64, 5))
train_set = Spectra(pick([640, 512, 800]))
loader = DataLoader(train_set, batch_size=pick([16, 32, 8]), shuffle=True)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
log.info("samples: %d, batches per epoch: %d", len(train_set), len(loader))
x, y = next(iter(loader))
log.info("first batch: x %s %s, y %s %s", tuple(x.shape), x.dtype, tuple(y.shape), y.dtype)
log.info("model:\n%s", model)
for epoch in range(5):
    for i, (x, y) in enumerate(loader):
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        if i % 10 == 0:
            log.info("epoch=%d iter=%d loss=%.4f", epoch, i, loss.item())
