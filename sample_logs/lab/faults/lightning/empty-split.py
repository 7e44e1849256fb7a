"""A split that gives the training part nothing, and shuffle=True: the random sampler refuses num_samples=0.

cause: data.empty
also: [code.user-exception]
not: [data.exhausted, config.trainer, data.missing-file]
signature: 'ValueError: num_samples should be a positive integer'
runs_as: main.py
launch: python main.py
"""

import logging

import lightning.pytorch as pl
import torch
from labkit import pick, seed_everything
from torch import nn
from torch.utils.data import DataLoader, Subset, TensorDataset

logging.basicConfig(level=logging.INFO, format="%(levelname)s:%(name)s:%(message)s")
logger = logging.getLogger("data")


class SensorData(pl.LightningDataModule):
    def __init__(self, batch_size, fold):
        super().__init__()
        self.save_hyperparameters()

    def setup(self, stage):
        values, fold = torch.randn(300, 5), torch.arange(300) % 5 + 1
        wanted = self.hparams.fold
        self.data = TensorDataset(values, values.sum(1))
        self.train = Subset(self.data, torch.nonzero((fold != wanted) & (fold > 5)).flatten().tolist())
        self.val = Subset(self.data, torch.nonzero(fold == wanted).flatten().tolist())
        logger.info("fold %s: %d training samples, %d validation samples", wanted, len(self.train), len(self.val))

    def train_dataloader(self):
        return DataLoader(self.train, self.hparams.batch_size, shuffle=True)

    def val_dataloader(self):
        return DataLoader(self.val, self.hparams.batch_size)


class SensorModel(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.model = nn.Linear(5, 1)

    def training_step(self, batch, batch_idx):
        return (self.model(batch[0]).squeeze(1) - batch[1]).abs().mean()

    def validation_step(self, batch, batch_idx):
        self.log("val_mae", (self.model(batch[0]).squeeze(1) - batch[1]).abs().mean(), prog_bar=True)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=0.01)


pl.seed_everything(42)
seed_everything()
trainer = pl.Trainer(accelerator="cpu", max_epochs=4, logger=False, enable_progress_bar=pick([False, True, False]))
data = SensorData(batch_size=pick([16, 32, 8]), fold=pick([1, 3, 5]))
trainer.fit(SensorModel(), datamodule=data)
