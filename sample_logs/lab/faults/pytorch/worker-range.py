"""The random crop of the user's transform draws from an empty range when a picture is as small as the crop: the worker's ValueError reaches the main process.

cause: code.user-exception
also: [data.schema]
not: [data.worker-crash, data.decode, data.missing-file, memory.shm-exhausted]
signature: 'ValueError: empty range'
first_failure: 'ValueError: Caught ValueError in DataLoader worker process'
runs_as: train_patches.py
"""

import logging
import random

import torch
from labkit import note, pick, seed_everything
from torch.utils.data import DataLoader, Dataset

log = logging.getLogger("patches")
logging.basicConfig(format="%(name)s %(asctime)s %(message)s", level=logging.DEBUG)
CROP = pick([24, 32, 20])
SIDES = [CROP + 8 + number % 11 for number in range(500)]
SIDES[pick([330, 250, 410])] = CROP


class RandomCrop:
    def __init__(self, side):
        self.side = side

    def __call__(self, picture):
        left = random.randrange(0, picture.shape[-1] - self.side)
        top = random.randrange(0, picture.shape[-2] - self.side)
        return picture[..., top:top + self.side, left:left + self.side]


class Patches(Dataset):
    transform = RandomCrop(CROP)

    def __len__(self):
        return len(SIDES)

    def __getitem__(self, index):
        waves = torch.linspace(0, 6 + index % 5, SIDES[index]).sin()
        return self.transform(waves[None, :, None] * waves[None, None, :])


seed_everything()
loader = DataLoader(Patches(), batch_size=10, num_workers=2, persistent_workers=True)
denoise = torch.nn.Sequential(torch.nn.Conv2d(1, 8, 3, padding=1), torch.nn.ReLU(), torch.nn.Conv2d(8, 1, 3, padding=1))
optimizer = torch.optim.Adam(denoise.parameters(), 3e-3)
log.info("crop %d, %d pictures, smallest side %d", CROP, len(SIDES), min(SIDES))
for number, clean in enumerate(loader):
    loss = (denoise(clean + 0.1 * torch.randn_like(clean)) - clean).square().mean()
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    log.debug("batch=%d mse=%.6f", number, loss.item())
    note("loss", number, float(f"{loss.item():.6f}"))
