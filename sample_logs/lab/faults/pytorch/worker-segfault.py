r"""Sliding windows made by as_strided with a wrong stride reach outside the array: a loader worker dies of a segmentation fault.

cause: data.worker-crash
also: [code.native-crash]
not: [memory.host-oom, memory.shm-exhausted, data.decode]
signature: 'DataLoader worker \(pid \d+\) is killed by signal: Segmentation fault'
first_failure: 'ERROR: Unexpected segmentation fault encountered in worker'
"""

import numpy as np
import torch
from labkit import pick, seed_everything
from numpy.lib.stride_tricks import as_strided
from torch.utils.data import DataLoader, Dataset

WINDOW = pick([128, 256, 96])
ODD = pick([406, 263, 519])


class Series(Dataset):
    """Days of one signal; one day comes with a step between its samples that is not its own."""

    def __init__(self):
        self.days = [np.random.randn(WINDOW * 4).astype(np.float32).cumsum() for _ in range(640)]

    def __len__(self):
        return len(self.days)

    def __getitem__(self, index):
        day = self.days[index]
        stride = day.strides[0] if index != ODD else day.strides[0] << 26
        windows = as_strided(day, (8, WINDOW), (day.strides[0] * WINDOW // 4, stride), writeable=False)
        for _ in range(40):
            noise = np.fft.irfft(np.fft.rfft(np.random.randn(8 * WINDOW)) / np.arange(1, 4 * WINDOW + 2)).astype(np.float32)
        return torch.from_numpy(windows - windows.mean() + noise.reshape(8, WINDOW))


seed_everything()
loader = DataLoader(Series(), batch_size=8, num_workers=2)
lstm = torch.nn.LSTM(WINDOW, 32, batch_first=True)
head = torch.nn.Linear(32, WINDOW)
optimizer = torch.optim.Adam([*lstm.parameters(), *head.parameters()], lr=1e-3)
print(f"{len(loader.dataset)} days, {len(loader)} batches, {loader.num_workers} workers")
for epoch in range(2):
    for i, windows in enumerate(loader):
        windows = windows.float()
        loss = torch.nn.functional.mse_loss(head(lstm(windows[:, :-1])[0]), windows[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if i % 4 == 0:
            print(f"epoch {epoch} | batch {i:3d} | loss {loss.item():.3f}")
