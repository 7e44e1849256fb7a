"""A good run with the usual harmless warnings: too many loader workers, the scheduler's order, a non-writable array, a huge picture, a bad EXIF block.

cause: healthy.completed
also: [healthy.running]
not: [data.decode, data.worker-crash, code.user-exception, learning.plateau, performance.input-bound, environment.version-incompatible]
outcome: completed
step_basis: epoch
"""

import io

import numpy as np
import torch
from labkit import note, pick, seed_everything
from PIL import Image
from torch.utils.data import DataLoader, Dataset

Image.MAX_IMAGE_PIXELS = 3000


class Thumbnails(Dataset):
    def __init__(self, count):
        self.blobs = []
        for number in range(count):
            image = Image.fromarray(np.random.randint(0, 90, (24, 24, 3), dtype=np.uint8) + np.array([80 * (number % 3 == c) for c in range(3)], dtype=np.uint8))
            buffer = io.BytesIO()
            if number % 97 == 0:
                image = image.resize((64, 64))
            image.save(buffer, "TIFF" if number % 53 == 0 else "PNG")
            self.blobs.append(buffer.getvalue())

    def __len__(self):
        return len(self.blobs)

    def __getitem__(self, index):
        image = Image.open(io.BytesIO(self.blobs[index])).convert("RGB").resize((24, 24))
        return torch.from_numpy(np.asarray(image)).permute(2, 0, 1).float() / 255, index % 3


def accuracy(model, loader):
    model.eval()
    with torch.inference_mode():
        right = sum((model(images).argmax(1) == labels).sum().item() for images, labels in loader)
    model.train()
    return right / len(loader.dataset)


seed_everything()
workers = pick([4, 3, 6])
train, test = DataLoader(Thumbnails(360), 24, shuffle=True, num_workers=workers, pin_memory=True), DataLoader(Thumbnails(90), 30)
model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.BatchNorm2d(8), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(2), torch.nn.Flatten(), torch.nn.Dropout(0.1), torch.nn.Linear(32, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, pick([2, 3, 2]), gamma=0.5)
for epoch in range(1, 6):
    scheduler.step()
    for images, labels in train:
        loss = torch.nn.functional.cross_entropy(model(images), labels, label_smoothing=0.05)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: train_loss {loss.item():.4f} test_acc {accuracy(model, test):.4f} lr {scheduler.get_last_lr()[0]:.4f}")
    note("loss", epoch, float(f"{loss.item():.4f}"))
print("Finished training, best model is the last one")
