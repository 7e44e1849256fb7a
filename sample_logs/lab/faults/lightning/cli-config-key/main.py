import torch
from lightning.pytorch import LightningDataModule, LightningModule
from lightning.pytorch.cli import LightningCLI
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class MoonsModel(LightningModule):
    """A small classifier of points in the plane."""

    def __init__(self, hidden: int = 16, lr: float = 1e-2):
        super().__init__()
        self.lr = lr
        self.net = nn.Sequential(nn.Linear(2, hidden), nn.ReLU(), nn.Linear(hidden, 2))

    def training_step(self, batch, batch_idx):
        loss = nn.functional.cross_entropy(self.net(batch[0]), batch[1])
        self.log("train_loss", loss, prog_bar=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=self.lr)


class Moons(LightningDataModule):
    """Two half circles."""

    def __init__(self, batch_size: int = 32):
        super().__init__()
        self.batch_size = batch_size

    def train_dataloader(self):
        angle, half = torch.rand(512) * 3.14159, torch.randint(0, 2, (512,))
        points = torch.stack([angle.cos() + half, angle.sin() * (1 - 2 * half) + 0.5 * half], dim=1)
        return DataLoader(TensorDataset(points + 0.1 * torch.randn(512, 2), half), self.batch_size)


if __name__ == "__main__":
    LightningCLI(MoonsModel, Moons)
