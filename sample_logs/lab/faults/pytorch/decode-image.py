"""One picture of a folder holds the HTML page of a failed download: Pillow cannot identify it.

cause: data.decode
not: [data.missing-file, data.worker-crash, environment.missing-package]
signature: 'PIL.UnidentifiedImageError: cannot identify image file'
first_failure: 'PIL.UnidentifiedImageError: '
"""

import argparse
import glob
import os

import numpy as np
import torch
import torch.nn as nn
from labkit import note, pick, seed_everything
from PIL import Image

parser = argparse.ArgumentParser(description="Small CNN on a folder of JPEGs")
parser.add_argument("--data", default="downloads")
parser.add_argument("--epochs", default=2, type=int)
parser.add_argument("-b", "--batch-size", default=pick([8, 6, 12]), type=int)
parser.add_argument("--print-freq", default=2, type=int)
args = parser.parse_args()


def download(count, refused):
    os.makedirs(args.data, exist_ok=True)
    for number in range(count):
        name = f"{args.data}/{number % 3}_{number:04d}.jpg"
        if number == refused:
            with open(name, "w") as sink:
                sink.write("<!DOCTYPE html><html><head><title>403 Forbidden</title></head></html>")
        else:
            Image.fromarray(np.random.randint(0, 85, (20, 20, 3), dtype=np.uint8) + np.uint8(85 * (number % 3))).save(name)


def load(paths):
    pixels = [np.asarray(Image.open(path).convert("RGB").resize((16, 16)), dtype=np.float32) for path in paths]
    return torch.from_numpy(np.stack(pixels)).permute(0, 3, 1, 2) / 255, torch.tensor([int(os.path.basename(path)[0]) for path in paths])


seed_everything()
download(300, pick([200, 130, 255]))
files = sorted(glob.glob(os.path.join(args.data, "*.jpg")), key=lambda path: path[-8:])
print(f"found {len(files)} files in '{args.data}'")
model = nn.Sequential(nn.Conv2d(3, 12, 3), nn.BatchNorm2d(12), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(192, 3))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), 0.05, momentum=0.9, weight_decay=1e-4)
for epoch in range(args.epochs):
    chunks = [files[at:at + args.batch_size] for at in range(0, len(files), args.batch_size)]
    for i, chunk in enumerate(chunks):
        images, target = load(chunk)
        output = model(images)
        loss = criterion(output, target)
        accuracy = (output.argmax(1) == target).float().mean() * 100
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if i % args.print_freq == 0:
            print(f"Epoch: [{epoch}][{i}/{len(chunks)}]\tLoss {loss.item():.4e}\tAcc@1 {accuracy.item():6.2f}")
            note("loss", i, float(f"{loss.item():.4e}"))
