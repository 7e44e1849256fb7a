"""The user's own hook at the end of validation uses something that is not there (an attribute, a key, a mean of nothing) and raises, after the sanity check or the first epoch.

cause: code.user-exception
also: []
not: [config.trainer, environment.version-incompatible, healthy.completed]
signature: '(AttributeError|KeyError|ZeroDivisionError): '
runs_as: train_metric.py
launch: python train_metric.py
"""

import lightning as L
import torch
from labkit import note, pick, seed_everything
from lightning.pytorch.callbacks import Callback, TQDMProgressBar
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

seed_everything()


class BestTracker(Callback):
    """Remembers the best validation loss and prints how much is gained."""

    def __init__(self, what):
        self.what, self.best, self.hits = what, None, 0

    def on_validation_epoch_end(self, trainer, pl_module):
        if trainer.sanity_checking:
            return
        if self.what == "attribute":
            gain = self.best_loss - trainer.callback_metrics["val_loss"]
        elif self.what == "key":
            gain = trainer.callback_metrics["val_f1"] - (self.best or 0)
        else:
            gain = sum(pl_module.scores) / self.hits
        print(f"gain {gain:.4f}")


class MetricNet(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Bilinear(6, 6, 1)
        self.scores = []

    def loss(self, batch):
        a, b, score = batch
        return nn.functional.mse_loss(self.net(a, b).squeeze(1), score)

    def training_step(self, batch, batch_idx):
        loss = self.loss(batch)
        self.log("train_loss", loss, prog_bar=True)
        return loss

    def validation_step(self, batch, batch_idx):
        self.log("val_loss", self.loss(batch))

    def on_train_batch_end(self, outputs, batch, batch_idx):
        if (batch_idx + 1) % 3 == 0:
            note("loss", self.global_step, float(f"{self.trainer.callback_metrics['train_loss'].item():.3g}"))

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=0.01)


a, b = torch.randn(240, 6), torch.randn(240, 6)
data = TensorDataset(a, b, (a * b).sum(1))
tracker = BestTracker(pick(["attribute", "key", "mean"]))
trainer = L.Trainer(max_epochs=5, accelerator="cpu", callbacks=[tracker, TQDMProgressBar(refresh_rate=3)], logger=False, enable_checkpointing=False)
trainer.fit(MetricNet(), DataLoader(data, batch_size=20), DataLoader(data, batch_size=60))
