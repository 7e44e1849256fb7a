"""The data set caches decoded pictures in a shared-memory block that is larger than the container's /dev/shm: a worker that writes behind its end dies of a bus error.

cause: memory.shm-exhausted
also: [data.worker-crash]
not: [memory.host-oom, code.native-crash, io.disk-full, data.decode]
signature: 'is killed by signal: Bus error'
first_failure: 'insufficient shared memory'
needs: [tmpfs]
launch: unshare -m bash -c "mount -t tmpfs -o size=4m shm /dev/shm && exec python -W ignore train.py"
"""

import logging
from multiprocessing import shared_memory

import numpy as np
import torch
from labkit import pick, seed_everything
from torch.utils.data import DataLoader, Dataset

logging.basicConfig(level=logging.INFO, format="[%(asctime)s] %(name)s %(levelname)s: %(message)s", datefmt="%m/%d %H:%M:%S")
logger = logging.getLogger("cache-trainer")
SIDE = pick([96, 128, 80])


class CachedPictures(Dataset):
    """Decoded once by whichever worker comes first, read by all from then on."""

    def __init__(self, count):
        self.block = shared_memory.SharedMemory(create=True, size=count * SIDE * SIDE)
        self.cache = np.ndarray((count, SIDE, SIDE), np.uint8, buffer=self.block.buf)
        self.done = [False] * count
        logger.info("shared cache %s: %d pictures, %.1f MB", self.block.name, count, self.block.size / 1e6)

    def __len__(self):
        return len(self.done)

    def __getitem__(self, index):
        if not self.done[index]:
            wave = np.sin(np.arange(SIDE * SIDE * 8) / (9 + index % 5)).cumsum()[::8]
            self.cache[index] = (120 + 100 * np.tanh(wave)).astype(np.uint8).reshape(SIDE, SIDE)
            self.done[index] = True
        return torch.from_numpy(self.cache[index][::8, ::8].astype(np.float32) / 255), index % 5


seed_everything()
loader = DataLoader(CachedPictures(2000), batch_size=10, num_workers=1)
net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.LazyLinear(40), torch.nn.ReLU(), torch.nn.Linear(40, 5))
net(torch.zeros(1, SIDE // 8, SIDE // 8))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(1, 4):
    for i, (images, labels) in enumerate(loader):
        loss = torch.nn.functional.cross_entropy(net(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if i % 2 == 0:
            logger.info("epoch %d iter %d/%d loss %.4f", epoch, i, len(loader), loss.item())
