r"""Each loader worker keeps all decoded pictures in a cache of its own: the memory cgroup's limit is reached and the kernel kills a worker.

cause: memory.host-oom
not: [data.worker-crash, memory.shm-exhausted, memory.cuda-oom, scheduler.terminated]
signature: 'RuntimeError: DataLoader worker \(pid \d+\) is killed by signal: Killed'
needs: [cgroup]
memory_mib: 700
"""

import os

import numpy as np
import psutil
import torch
import torch.nn as nn
from labkit import pick, seed_everything
from torch.utils.data import DataLoader, Dataset

SIDE = pick([512, 448, 600])


class CachedScans(Dataset):
    def __init__(self, count):
        self.count = count
        self.cache = {}

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        if index not in self.cache:
            generator = np.random.default_rng(index)
            self.cache[index] = generator.random((4, SIDE, SIDE), dtype=np.float32)
        scan = self.cache[index]
        return torch.from_numpy(scan[:, ::8, ::8].copy()), index % 2


seed_everything()
loader = DataLoader(CachedScans(4000), batch_size=4, num_workers=pick([1, 2, 1]), prefetch_factor=1)
net = nn.Sequential(nn.Conv2d(4, 8, 5, stride=4), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 2))
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
main_process = psutil.Process(os.getpid())
print(f"scans of 4 x {SIDE} x {SIDE}, {len(loader)} iterations")
for iteration, (scans, labels) in enumerate(loader):
    loss = nn.functional.cross_entropy(net(scans), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if iteration % 2 == 0:
        workers = " ".join(f"{child.memory_info().rss / 2**20:.0f}" for child in main_process.children())
        print(f"iteration {iteration}/{len(loader)}  loss {loss.item():.4f}  rss main {main_process.memory_info().rss / 2**20:.0f} MiB, workers {workers} MiB")
