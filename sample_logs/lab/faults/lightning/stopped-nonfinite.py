"""An autoencoder under SGD whose rate makes the epoch loss grow from the third epoch on until it is no longer finite; EarlyStopping's check_finite ends the run.

cause: numerics.lr-divergence
also: [numerics.gradient-explosion]
not: [numerics.bad-batch, numerics.fp16-overflow, healthy.completed, learning.plateau]
signature: 'is not finite'
first_failure: 'train_loss=(inf|nan)|is not finite'
step_basis: epoch
runs_as: autoencoder.py
launch: python autoencoder.py
"""

import pytorch_lightning as pl
import torch
from labkit import note, pick, seed_everything
from pytorch_lightning.callbacks import Callback, EarlyStopping
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

seed_everything()


class EpochPrinter(Callback):
    def on_train_epoch_end(self, trainer, pl_module):
        value = trainer.callback_metrics["train_loss"].item()
        rate = trainer.optimizers[0].param_groups[0]["lr"]
        print(f"epoch {trainer.current_epoch:>3d} | train_loss={value:.4f} | lr={rate:.4g}")
        note("loss", trainer.current_epoch, float(f"{value:.4f}"))
        note("learning_rate", trainer.current_epoch, float(f"{rate:.4g}"))


class AutoEncoder(pl.LightningModule):
    def __init__(self, width: int, latent: int, lr: float):
        super().__init__()
        self.save_hyperparameters()
        self.encoder = nn.Sequential(nn.Linear(width, 24), nn.ReLU(), nn.Linear(24, latent), nn.Tanh())
        self.decoder = nn.Linear(latent, width)

    def training_step(self, batch, batch_idx):
        (x,) = batch
        loss = nn.functional.mse_loss(self.decoder(self.encoder(x)), x, reduction="sum") / len(x)
        self.log("train_loss", loss, on_step=False, on_epoch=True)
        return loss

    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=1e-3)
        return [optimizer], [torch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: min(epoch + 1, 10) * self.hparams.lr / 1e-2)]


data = TensorDataset(torch.randn(256, 16) * 2 + 1)
model = AutoEncoder(16, pick([4, 6, 3]), lr=pick([2.0, 1.4, 3.0]))
print(model.hparams)
stopper = EarlyStopping("train_loss", patience=50, check_finite=True, check_on_train_epoch_end=True, verbose=True)
trainer = pl.Trainer(max_epochs=60, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False, callbacks=[EpochPrinter(), stopper])
trainer.fit(model, DataLoader(data, batch_size=128, shuffle=True))
print("stopped after epoch", trainer.current_epoch)
