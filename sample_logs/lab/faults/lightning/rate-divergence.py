"""Plain SGD with momentum and a learning rate far too high for an MLP regressor: the training loss on the bar climbs over a few steps, becomes inf and NaN, and the run goes on to max_epochs.

cause: numerics.lr-divergence
also: [numerics.gradient-explosion]
not: [numerics.fp16-overflow, numerics.bad-batch, healthy.completed, healthy.running]
signature: 'train_loss=(nan|inf)'
"""

import lightning as L
import torch
from labkit import note, pick, seed_everything
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

seed_everything()


class LitRegressor(L.LightningModule):
    def __init__(self, hidden: int, lr: float, momentum: float) -> None:
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(nn.Linear(12, hidden), nn.LeakyReLU(), nn.Linear(hidden, hidden), nn.LeakyReLU(), nn.Linear(hidden, 1))

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = nn.functional.mse_loss(self.net(x), y)
        self.log("train_loss", loss, prog_bar=True)
        return loss

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.log("val_loss", nn.functional.mse_loss(self.net(x), y), prog_bar=True)

    def on_train_batch_end(self, outputs, batch, batch_idx):
        note("loss", self.global_step, float(f"{self.trainer.callback_metrics['train_loss'].item():.3g}"))

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=self.hparams.lr, momentum=self.hparams.momentum)


x = torch.randn(640, 12)
y = 4 * x[:, :1] - 2 * x[:, 3:4] + 6
model = LitRegressor(hidden=pick([48, 64, 40]), lr=pick([0.2, 0.4, 0.3]), momentum=0.9)
print("hparams:", dict(model.hparams))
trainer = L.Trainer(max_epochs=pick([3, 2, 4]), accelerator="cpu", log_every_n_steps=5)
trainer.fit(model, DataLoader(TensorDataset(x[:512], y[:512]), batch_size=32, shuffle=True), DataLoader(TensorDataset(x[512:], y[512:]), batch_size=64))
