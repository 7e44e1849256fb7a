"""A healthy run that EarlyStopping ends before max_epochs, as it was asked to; a test of the best checkpoint follows.

cause: healthy.completed
also: [healthy.running]
not: [learning.plateau, numerics.loss-spike, scheduler.terminated, config.trainer]
outcome: completed
step_basis: epoch
runs_as: main.py
launch: python main.py
"""

import logging

import pytorch_lightning as pl
import torch
from labkit import note, pick, seed_everything
from pytorch_lightning.callbacks import Callback, EarlyStopping, ModelCheckpoint
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname).1s %(name)s: %(message)s", datefmt="%m-%d %H:%M:%S")
log = logging.getLogger("main")
seed_everything()


class LogEpoch(Callback):
    def on_train_epoch_end(self, trainer, pl_module):
        values = {key: value.item() for key, value in trainer.callback_metrics.items()}
        log.info("epoch %d: train_loss=%.4f val_loss=%.4f", trainer.current_epoch, values["train_loss"], values["val_loss"])
        note("loss", trainer.current_epoch, float(f"{values['train_loss']:.4f}"))
        note("eval_loss", trainer.current_epoch, float(f"{values['val_loss']:.4f}"))


class Ridge(pl.LightningModule):
    def __init__(self, decay):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, 24), nn.Tanh(), nn.Linear(24, 1))
        self.decay = decay

    def step(self, batch, name):
        loss = nn.functional.mse_loss(self.net(batch[0]), batch[1])
        self.log(name, loss, on_step=False, on_epoch=True)
        return loss

    def training_step(self, batch, batch_idx):
        return self.step(batch, "train_loss")

    def validation_step(self, batch, batch_idx):
        self.step(batch, "val_loss")

    def test_step(self, batch, batch_idx):
        self.step(batch, "test_loss")

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=2e-2, weight_decay=self.decay)


x = torch.randn(512, 8)
y = (x[:, :1] * 2 - x[:, 1:2]).sin() + 0.2 * torch.randn(512, 1)
loaders = [DataLoader(TensorDataset(x[a:b], y[a:b]), batch_size=32, shuffle=a == 0) for a, b in ((0, 384), (384, 448), (448, 512))]
callbacks = [EarlyStopping("val_loss", patience=pick([3, 4, 2]), verbose=True), ModelCheckpoint("best", monitor="val_loss"), LogEpoch()]
trainer = pl.Trainer(max_epochs=200, accelerator="cpu", callbacks=callbacks, logger=False, enable_progress_bar=False)
trainer.fit(Ridge(pick([1e-2, 1e-3, 5e-2])), *loaders[:2])
log.info("stopped at epoch %d", trainer.current_epoch)
log.info("test: %s", trainer.test(ckpt_path="best", dataloaders=loaders[2], verbose=False))
