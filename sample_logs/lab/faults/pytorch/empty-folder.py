"""The glob looks for .jpeg while the pictures end in .jpg: the data set is empty, and the sampler refuses it.

cause: data.empty
not: [data.missing-file, config.arguments, data.exhausted]
signature: 'ValueError: num_samples should be a positive integer value, but got num_samples=0'
"""

import argparse
import pathlib

import torch
from labkit import pick, seed_everything
from PIL import Image
from torch.utils.data import DataLoader, Dataset

parser = argparse.ArgumentParser()
parser.add_argument("--images", default=pick(["photos", "data/train", "raw/imgs"]))
parser.add_argument("--extension", default=pick([".jpeg", ".JPG", ".png"]))
parser.add_argument("--batch-size", type=int, default=32)
parser.add_argument("--workers", type=int, default=0)
parser.add_argument("--lr", type=float, default=0.1)
args = parser.parse_args()


class Photos(Dataset):
    def __init__(self, root, extension):
        self.paths = sorted(pathlib.Path(root).rglob(f"*{extension}"))

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        return torch.tensor(list(Image.open(self.paths[index]).getdata()), dtype=torch.float32)


def shoot(root):
    pathlib.Path(root).mkdir(parents=True, exist_ok=True)
    for number in range(20):
        Image.new("L", (8, 8), number * 10).save(f"{root}/shot{number:02d}.jpg")


seed_everything()
shoot(args.images)
print("options:")
for name, value in sorted(vars(args).items()):
    print(f"  {name:<12} {value}")
dataset = Photos(args.images, args.extension)
print(f"Found {len(dataset)} images in {args.images}")
loader = DataLoader(dataset, batch_size=args.batch_size, shuffle=True, num_workers=args.workers)
model = torch.nn.Linear(64, 64)
optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
for epoch in range(10):
    for batch in loader:
        loss = torch.nn.functional.mse_loss(model(batch), batch)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    print(epoch, loss.item())
