"""The images were resized, the classifier's first linear layer still expects the old flattened size.

cause: code.shape-mismatch
also: []
not: [checkpoint.shape-mismatch, code.dtype-mismatch, data.collation, cuda.cublas]
signature: 'RuntimeError: mat1 and mat2 shapes cannot be multiplied'
runs_as: train_cnn.py
launch: |
  set -x
  python train_cnn.py
"""

import torch
import torch.nn.functional as F
from labkit import pick, seed_everything
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

seed_everything()
config = {"image_size": pick([40, 36, 64]), "batch_size": pick([32, 16, 64]), "lr": 1e-3, "epochs": 12, "num_classes": pick([10, 7, 100])}


class SmallCNN(nn.Module):
    def __init__(self, num_classes):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 16, 3, padding=1)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1)
        self.fc1 = nn.Linear(32 * 8 * 8, 128)
        self.fc2 = nn.Linear(128, num_classes)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = torch.flatten(x, 1)
        x = F.relu(self.fc1(x))
        return self.fc2(x)


for key, value in config.items():
    print(f"{key:>12}: {value}")
images = torch.rand(320, 3, config["image_size"], config["image_size"])
labels = torch.randint(0, config["num_classes"], (320,))
loader = DataLoader(TensorDataset(images, labels), batch_size=config["batch_size"], shuffle=True)
model = SmallCNN(config["num_classes"])
print(model)
optimizer = torch.optim.Adam(model.parameters(), lr=config["lr"])
for epoch in range(config["epochs"]):
    running = 0.0
    for batch, (x, y) in enumerate(loader):
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += loss.item()
    print(f"[{epoch + 1}/{config['epochs']}] train loss: {running / len(loader):.4f}")
