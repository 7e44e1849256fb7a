"""The data set returns None for pictures that are too small, and the default collation cannot batch None.

cause: data.collation
step_basis: ordinal
also: [data.schema]
not: [data.decode, data.empty, data.worker-crash, code.user-exception]
signature: "TypeError: (default_collate: batch must contain .* found <class 'NoneType'>|object of type 'NoneType' has no len)"
first_failure: 'TypeError: Caught TypeError in DataLoader worker process'
"""

import random

import torch
import torch.nn.functional as F
from labkit import note, pick, seed_everything
from PIL import Image
from torch.utils.data import DataLoader, Dataset

MINIMUM = pick([32, 48, 64])


class Crops(Dataset):
    def __init__(self, boxes):
        self.boxes = boxes
        self.page = Image.effect_noise((512, 512), 60)

    def __len__(self):
        return len(self.boxes)

    def __getitem__(self, index):
        left, top, side, label = self.boxes[index]
        if side < MINIMUM:
            return None
        crop = self.page.crop((left, top, left + side, top + side)).resize((28, 28))
        return torch.frombuffer(bytearray(crop.tobytes()), dtype=torch.uint8).float().view(1, 28, 28) / 255 + label / 10, label


def detector(count):
    # Boxes of a detector; the small ones come late in its list, as the scores fall.
    draw = random.Random(pick([4, 5, 6]))
    sides = [draw.randint(MINIMUM, 200) if number < count * 0.6 else draw.randint(8, 200) for number in range(count)]
    return [(draw.randint(0, 300), draw.randint(0, 300), side, draw.randint(0, 9)) for side in sides]


def train():
    seed_everything()
    data = Crops(detector(600))
    loader = DataLoader(data, batch_size=12, num_workers=2)
    net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(784, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    print(f"{len(data)} crops | {len(loader)} batches per epoch | minimum side {MINIMUM}")
    for batch, (images, labels) in enumerate(loader):
        loss = F.cross_entropy(net(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if batch % 2 == 0:
            print(f"Train Epoch: 1 [{batch * 12}/{len(data)} ({100 * batch / len(loader):.0f}%)]\tLoss: {loss.item():.6f}")
            note("loss", batch, float(f"{loss.item():.6f}"))


train()
