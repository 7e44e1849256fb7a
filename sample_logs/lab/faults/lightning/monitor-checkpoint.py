"""ModelCheckpoint monitors a metric that the module never logs: the first epoch runs, then saving fails.

cause: config.trainer
also: [code.user-exception]
not: [checkpoint.save-failed, healthy.completed, data.schema]
signature: 'could not find the monitored key'
first_failure: 'MisconfigurationException: '
"""

import lightning as L
import torch
from labkit import note, pick, seed_everything
from lightning.pytorch.callbacks import ModelCheckpoint, TQDMProgressBar
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

seed_everything()
monitor = pick(["val_acc", "val/loss", "valid_loss"])


class TimeSeriesModel(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(4, 16, batch_first=True)
        self.out = nn.Linear(16, 1)

    def forward(self, x):
        return self.out(self.lstm(x)[0][:, -1])

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = nn.functional.l1_loss(self(x), y)
        self.log("train_loss", loss, prog_bar=True)
        return loss

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.log("val_loss", nn.functional.l1_loss(self(x), y), prog_bar=True)

    def on_train_batch_end(self, outputs, batch, batch_idx):
        if (batch_idx + 1) % 2 == 0:
            note("loss", self.global_step, float(f"{self.trainer.callback_metrics['train_loss'].item():.3g}"))

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-2)


def windows(count):
    x = torch.randn(count, 12, 4)
    return TensorDataset(x, x[:, -3:, 0].sum(1, keepdim=True))


best = ModelCheckpoint(dirpath="checkpoints", filename="best-{epoch}", monitor=monitor, mode="max" if "acc" in monitor else "min", save_top_k=2)
train, val = windows(pick([320, 256, 384])), windows(64)
trainer = L.Trainer(max_epochs=10, accelerator="cpu", callbacks=[best, TQDMProgressBar(refresh_rate=2)], logger=False)
trainer.fit(TimeSeriesModel(), DataLoader(train, 32, num_workers=0), DataLoader(val, 32))
