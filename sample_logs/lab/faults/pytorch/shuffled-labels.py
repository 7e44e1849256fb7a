"""Images and labels come from two files in different orders, so there is nothing to learn: training and validation loss stay at ln 10 and the accuracy at chance.

cause: learning.plateau
also: []
not: [healthy.completed, healthy.running, numerics.lr-divergence, learning.collapse]
signature: 'val_acc'
environment: transformers
runs_as: train_digits.py
step_basis: epoch
note: finite; it does not learn.
"""

import torch
from labkit import note, pick, seed_everything
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split
from tqdm import tqdm

seed_everything()
size = pick([6000, 4000, 8000])
labels = torch.randint(0, 10, (size,))
images = torch.randn(size, 1, 12, 12) * 0.5 + nn.functional.one_hot(labels, 10).float().repeat(1, 15)[:, :144].view(-1, 1, 12, 12)
labels = labels[torch.randperm(size)]
train, validation = random_split(TensorDataset(images, labels), [size - 1000, 1000])
model = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(200, 10))
print(model)
print(f"train {len(train)} validation {len(validation)} classes 10")
optimizer = torch.optim.Adam(model.parameters(), lr=pick([1e-4, 2e-4, 1e-4]))
for epoch in range(1, 13):
    total = 0.0
    for x, y in tqdm(DataLoader(train, batch_size=100, shuffle=True), desc=f"epoch {epoch}", mininterval=60, leave=True):
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(y)
    with torch.no_grad():
        x, y = next(iter(DataLoader(validation, batch_size=1000)))
        out = model(x)
        seen = nn.functional.cross_entropy(out, y).item()
        accuracy = (out.argmax(1) == y).float().mean().item()
    print(f"Epoch {epoch}/12 - train_loss: {total / len(train):.4f} - val_loss: {seen:.4f} - val_acc: {accuracy:.4f}")
    note("loss", epoch, float(f"{total / len(train):.4f}"))
    note("eval_loss", epoch, float(f"{seen:.4f}"))
