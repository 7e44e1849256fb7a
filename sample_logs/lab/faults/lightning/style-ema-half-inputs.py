"""The data module gives float64 arrays from NumPy; the first layer is float32.

cause: code.dtype-mismatch
also: [data.schema]
not: [numerics.fp16-overflow, code.shape-mismatch, code.device-mismatch]
signature: 'must have the same dtype'
runs_as: fit.py
kept: []
"""
import lightning as L
import numpy as np
import torch
from torch import nn
from labkit import pick, seed_everything

seed_everything()


class Curves(torch.utils.data.Dataset):
    def __len__(self):
        return 256

    def __getitem__(self, i):
        t = np.linspace(0, 1, 32) * i
        return np.sin(t), np.float32(i / 256)


class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(32, pick([16, 32, 64])), nn.ReLU(), nn.LazyLinear(1))

    def training_step(self, batch, batch_idx):
        x, y = batch
        return nn.functional.mse_loss(self.net(x).squeeze(), y)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())


model = Net()
model.net(torch.zeros(1, 32))
L.Trainer(max_epochs=1, accelerator="cpu", logger=False, enable_checkpointing=False).fit(model, torch.utils.data.DataLoader(Curves(), 32))
