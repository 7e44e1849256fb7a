r"""An image classifier whose annotation file names a picture that was never copied: a loader worker fails on opening it, in the middle of an epoch.

cause: data.missing-file
not: [data.decode, data.worker-crash, code.user-exception]
signature: 'FileNotFoundError: \[Errno 2\] No such file or directory: .*\.png'
first_failure: 'FileNotFoundError: Caught FileNotFoundError in DataLoader worker process'
runs_as: main.py
"""

import json
import logging
import os

import numpy as np
import torch
from labkit import note, pick, seed_everything
from PIL import Image
from torch.utils.data import DataLoader, Dataset

logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s", level=logging.INFO)
log = logging.getLogger("train")
ROOT = pick(["datasets/leaves", "./images", "data/products"])


def copy_images(count, skipped):
    os.makedirs(f"{ROOT}/train", exist_ok=True)
    entries = []
    for number in range(count):
        label = number % 4
        pixels = np.random.randint(0, 80, (24, 24, 3), dtype=np.uint8)
        pixels[:, label * 6:label * 6 + 6] += 120
        if number != skipped:
            Image.fromarray(pixels).save(f"{ROOT}/train/img_{number:05d}.png")
        entries.append({"file_name": f"train/img_{number:05d}.png", "category": label})
    with open(f"{ROOT}/annotations.json", "w") as sink:
        json.dump(entries, sink)


class Pictures(Dataset):
    def __init__(self, root):
        self.root = root
        with open(os.path.join(root, "annotations.json")) as source:
            self.entries = json.load(source)

    def __len__(self):
        return len(self.entries)

    def __getitem__(self, index):
        entry = self.entries[index]
        image = Image.open(os.path.join(self.root, entry["file_name"])).convert("RGB")
        return torch.from_numpy(np.asarray(image, dtype=np.float32) / 255).permute(2, 0, 1), entry["category"]


def main():
    seed_everything()
    copy_images(480, pick([301, 207, 390]))
    data = Pictures(ROOT)
    log.info("%d images in %s", len(data), ROOT)
    loader = DataLoader(data, batch_size=8, num_workers=pick([2, 1, 2]))
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3, stride=2), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.LazyLinear(4))
    model(torch.zeros(1, 3, 24, 24))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for epoch in range(3):
        for step, (images, labels) in enumerate(loader, 1):
            loss = torch.nn.functional.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if step % 3 == 0:
                log.info("Epoch [%d/3] Iter [%d/%d] loss: %.4f", epoch + 1, step, len(loader), loss.item())
                note("loss", step, float(f"{loss.item():.4f}"))


main()
