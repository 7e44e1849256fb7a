"""A run goes on from a checkpoint with an optimiser that has another number of parameter groups than the saved one.

cause: checkpoint.resume-mismatch
also: []
not: [checkpoint.key-mismatch, checkpoint.corrupt, config.trainer]
signature: 'ValueError: loaded state dict|KeyError: '
runs_as: continue.py
launch: |
  python continue.py
  python continue.py --no-decay-on-bias
"""

import argparse
import os

import pytorch_lightning as pl
import torch
from labkit import pick, seed_everything
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

seed_everything()
parser = argparse.ArgumentParser()
parser.add_argument("--no-decay-on-bias", action="store_true", help="no weight decay on biases and norms")
args = parser.parse_args()


class Regressor(pl.LightningModule):
    def __init__(self, width):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, width), nn.LayerNorm(width), nn.SiLU(), nn.Linear(width, 1))

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = nn.functional.mse_loss(self.net(x), y)
        self.log("train_loss", loss, prog_bar=True)
        return loss

    def configure_optimizers(self):
        if not args.no_decay_on_bias:
            return torch.optim.AdamW(self.parameters(), lr=1e-3, weight_decay=0.05)
        matrices = [p for p in self.parameters() if p.ndim > 1]
        vectors = [p for p in self.parameters() if p.ndim < 2]
        return torch.optim.AdamW([{"params": matrices, "weight_decay": 0.05}, {"params": vectors, "weight_decay": 0.0}], lr=1e-3)


x = torch.randn(pick([256, 192, 320]), 6)
last = "state/last.ckpt" if os.path.exists("state/last.ckpt") else None
print(f"{vars(args)}, resume from: {last}")
keep = pl.callbacks.ModelCheckpoint("state", save_last=True, every_n_train_steps=4)
bar = pl.callbacks.TQDMProgressBar(refresh_rate=4)
trainer = pl.Trainer(max_steps=30 if last else 16, accelerator="cpu", callbacks=[keep, bar], logger=False)
model = Regressor(pick([16, 32, 24]))
trainer.fit(model, DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=16), ckpt_path=last)
