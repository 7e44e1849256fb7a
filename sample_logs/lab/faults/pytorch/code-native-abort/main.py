import ctypes
import logging

import torch
from labkit import note, pick, seed_everything
from torch.utils.data import DataLoader, Dataset

logging.basicConfig(level=logging.INFO, format="[%(levelname)s] %(message)s")
seed_everything()
augment = ctypes.CDLL("./libaugment.so")
MODE = pick([0, 1, 2])


class Crops(Dataset):
    def __init__(self, images):
        self.images = images

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        image = self.images[i].clone()
        shift = 3 if i == pick([430, 287, 555]) else 0
        augment.crop(ctypes.c_void_p(image.data_ptr()), image.size(-1), shift, MODE)
        return image, int(image.mean() > 0.5)


data = Crops(torch.rand(640, 1, 24, 24))
loader = DataLoader(data, batch_size=pick([16, 32, 8]))
model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(576, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
logging.info("images: %d, batches: %d", len(data), len(loader))
for i, (x, y) in enumerate(loader, 1):
    loss = torch.nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    logging.info("iter %d/%d loss=%.4f", i, len(loader), loss.item())
    note("loss", i, round(loss.item(), 4))
logging.info("finished")
