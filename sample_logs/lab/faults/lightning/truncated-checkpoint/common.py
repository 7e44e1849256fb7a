import lightning as L
import torch
from torch import nn
from torch.utils.data import TensorDataset


class Encoder(L.LightningModule):
    def __init__(self, width=128):
        super().__init__()
        self.save_hyperparameters()
        self.layers = nn.Sequential(nn.Linear(64, width), nn.GELU(), nn.Linear(width, width), nn.GELU(), nn.Linear(width, 64))

    def training_step(self, batch, batch_idx):
        (x,) = batch
        return nn.functional.mse_loss(self.layers(x + 0.1 * torch.randn_like(x)), x)

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-3)


def model():
    return Encoder()


def data():
    return TensorDataset(torch.randn(256, 64))
