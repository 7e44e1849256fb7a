"""EarlyStopping on val_loss in a run that has no validation loop: after the first epoch the metric is not there.

cause: config.trainer
also: [code.user-exception]
not: [data.schema, healthy.completed, learning.plateau]
signature: 'Early stopping conditioned on metric'
first_failure: 'RuntimeError: Early stopping'
runs_as: train_vae.py
launch: python train_vae.py
step_basis: epoch
"""

import pytorch_lightning as pl
import torch
from labkit import note, pick, seed_everything
from pytorch_lightning.callbacks import EarlyStopping
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

seed_everything()


class VAE(pl.LightningModule):
    def __init__(self, width, latent, beta):
        super().__init__()
        self.save_hyperparameters()
        self.encode = nn.Linear(width, 2 * latent)
        self.decode = nn.Linear(latent, width)

    def training_step(self, batch, batch_idx):
        (x,) = batch
        mean, log_variance = self.encode(x).chunk(2, dim=1)
        z = mean + torch.randn_like(mean) * (0.5 * log_variance).exp()
        kl = -0.5 * (1 + log_variance - mean**2 - log_variance.exp()).sum(1).mean()
        loss = nn.functional.mse_loss(self.decode(z), x, reduction="none").sum(1).mean() + self.hparams.beta * kl
        self.log_dict({"train_loss": loss, "kl": kl}, on_step=False, on_epoch=True)
        return loss

    def on_train_epoch_end(self):
        metrics = self.trainer.callback_metrics
        print({"epoch": self.current_epoch, "train_loss": round(metrics["train_loss"].item(), 4), "kl": round(metrics["kl"].item(), 4)})
        note("loss", self.current_epoch, round(metrics["train_loss"].item(), 4))
        note("kl", self.current_epoch, round(metrics["kl"].item(), 4))

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), 1e-3)


model = VAE(32, pick([4, 8, 2]), beta=pick([1.0, 0.5, 4.0]))
stopping = EarlyStopping(monitor=pick(["val_loss", "val_elbo", "val_loss"]), patience=5, mode="min", check_on_train_epoch_end=True)
trainer = pl.Trainer(max_epochs=100, accelerator="cpu", callbacks=[stopping], enable_progress_bar=False, logger=False, enable_checkpointing=False)
trainer.fit(model, DataLoader(TensorDataset(torch.randn(320, 32)), 32, shuffle=True))
