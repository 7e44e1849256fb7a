"""Pictures are decoded and resized in the main process; the meters show that almost all of each step goes into data loading.

cause: performance.input-bound
also: [healthy.completed, healthy.running]
not: [hang.stalled, performance.slow, learning.plateau]
outcome: completed
"""

import io
import time

import numpy as np
import torch
from labkit import note, pick, seed_everything
from PIL import Image
from torch.utils.data import DataLoader, Dataset


class AverageMeter:
    def __init__(self):
        self.sum = self.count = self.val = 0

    def update(self, val, n=1):
        self.val = val
        self.sum += val * n
        self.count += n

    @property
    def avg(self):
        return self.sum / self.count


class Jpegs(Dataset):
    def __init__(self, count, side):
        buffer = io.BytesIO()
        Image.fromarray(np.random.randint(0, 255, (side, side, 3), dtype=np.uint8)).save(buffer, "JPEG", quality=92)
        self.blob, self.count = buffer.getvalue(), count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        picture = Image.open(io.BytesIO(self.blob)).convert("RGB").rotate(index % 20 - 10, Image.Resampling.BICUBIC).resize((32, 32), Image.Resampling.LANCZOS)
        return torch.from_numpy(np.array(picture)).permute(2, 0, 1).float() / 255 + index % 10 / 10, index % 10


seed_everything()
batch_size = pick([16, 12, 20])
loader = DataLoader(Jpegs(batch_size * 60, pick([384, 448, 320])), batch_size=batch_size, num_workers=0)
model = torch.nn.Sequential(torch.nn.Conv2d(3, 16, 3, stride=4), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(1024, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
losses, batch_time, data_time = AverageMeter(), AverageMeter(), AverageMeter()
end = time.time()
for index, (images, target) in enumerate(loader):
    data_time.update(time.time() - end)
    loss = torch.nn.functional.cross_entropy(model(images), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.update(loss.item(), len(images))
    batch_time.update(time.time() - end)
    if index % 3 == 0 or index == len(loader) - 1:
        print(f"Train: 0 [{index:>4d}/{len(loader)} ({100 * index / (len(loader) - 1):>3.0f}%)]  Loss: {losses.val:#.3g} ({losses.avg:#.3g})  "
              f"Time: {batch_time.val:.3f}s, {len(images) / batch_time.val:>7.2f}/s  ({batch_time.avg:.3f}s, {len(images) / batch_time.avg:>7.2f}/s)  LR: 5.000e-02  Data: {data_time.val:.3f} ({data_time.avg:.3f})")
        note("loss", index, float(f"{losses.val:#.3g}"))
    end = time.time()
