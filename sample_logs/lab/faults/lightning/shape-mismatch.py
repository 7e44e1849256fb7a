"""The flattened size of the convolutions was worked out wrongly: the first linear layer does not fit, already in the sanity check of the validation loop.

cause: code.shape-mismatch
also: []
not: [checkpoint.shape-mismatch, code.dtype-mismatch, data.collation]
signature: 'mat1 and mat2 shapes cannot be multiplied'
runs_as: cifar.py
launch: python cifar.py
"""

import lightning as L
import torch
import torchmetrics
from labkit import pick, seed_everything
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

seed_everything()


class CIFARNet(L.LightningModule):
    def __init__(self, filters: int, flat: int):
        super().__init__()
        self.conv1 = nn.Conv2d(3, filters, 5)
        self.conv2 = nn.Conv2d(filters, 16, 5)
        self.pool = nn.MaxPool2d(2)
        self.fc1 = nn.Linear(flat, 64)
        self.fc2 = nn.Linear(64, 10)
        self.acc = torchmetrics.classification.MulticlassAccuracy(10)

    def forward(self, x):
        x = self.pool(torch.relu(self.conv1(x)))
        x = self.pool(torch.relu(self.conv2(x)))
        return self.fc2(torch.relu(self.fc1(x.flatten(1))))

    def training_step(self, batch, _):
        return nn.functional.cross_entropy(self(batch[0]), batch[1])

    def validation_step(self, batch, _):
        self.acc(self(batch[0]), batch[1])
        self.log("val_acc", self.acc, prog_bar=True)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=1e-2)


size = pick([32, 28, 40])
data = TensorDataset(torch.rand(64, 3, size, size), torch.randint(0, 10, (64,)))
net = CIFARNet(filters=6, flat=16 * pick([4 * 4, 5 * 5, 6 * 6]))
trainer = L.Trainer(max_epochs=2, accelerator="cpu", logger=False, enable_checkpointing=False)
trainer.fit(net, DataLoader(data, 16, shuffle=True), DataLoader(data, 16))
