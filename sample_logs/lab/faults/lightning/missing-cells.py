"""A table with a few missing cells, read as NaN: in the batch that holds the first of them the loss becomes NaN, and the weights with it; the bar also counts the NaN inputs.

cause: numerics.bad-batch
also: [numerics.nonfinite-unknown]
not: [numerics.lr-divergence, numerics.gradient-explosion, numerics.fp16-overflow, healthy.completed]
signature: 'train_loss=nan'
"""

import io

import lightning as L
import numpy as np
import torch
from labkit import note, pick, seed_everything
from lightning.pytorch.loggers import CSVLogger
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

seed_everything()


def read_table(text: str) -> torch.Tensor:
    return torch.tensor(np.genfromtxt(io.StringIO(text), delimiter=",", skip_header=1), dtype=torch.float32)


class HousePrices(L.LightningModule):
    def __init__(self, features: int, lr: float = 1e-2):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(nn.Linear(features, 32), nn.GELU(), nn.Linear(32, 1))

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = nn.functional.huber_loss(self.net(x).squeeze(1), y)
        self.log("train_loss", loss, prog_bar=True)
        self.log("nan_inputs", x.isnan().sum().float(), prog_bar=True)
        return loss

    def on_train_batch_end(self, outputs, batch, batch_idx):
        metrics = self.trainer.callback_metrics
        note("loss", self.global_step, float(f"{metrics['train_loss'].item():.3g}"))
        note("nan_inputs", self.global_step, float(f"{metrics['nan_inputs'].item():.3g}"))

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=self.hparams.lr)


names = ["area", "rooms", "age", "distance", "tax", "price"]
values = np.random.randn(480, 5)
price = values @ np.array([1.5, 0.7, -0.4, -0.9, -0.2]) + 0.1 * np.random.randn(480)
rows = [[f"{value:.4f}" for value in (*row, price[i])] for i, row in enumerate(values)]
for row, column in pick([[(311, 2), (402, 4)], [(205, 1)], [(420, 3), (421, 3), (470, 0)]]):
    rows[row][column] = ""
table = read_table("\n".join([",".join(names), *(",".join(row) for row in rows)]))
print(f"read {len(table)} rows x {table.shape[1]} columns: {', '.join(names)}")
trainer = L.Trainer(max_epochs=2, accelerator="cpu", logger=CSVLogger("logs", name="prices"), log_every_n_steps=10)
trainer.fit(HousePrices(5), DataLoader(TensorDataset(table[:, :5], table[:, 5]), batch_size=16))
