"""A healthy run with rich's bar and model summary, and a second part that goes on from the last checkpoint.

cause: healthy.completed
also: [healthy.running]
not: [checkpoint.resume-mismatch, checkpoint.unsafe-load, learning.plateau, config.trainer]
environment: lightning-cli
outcome: completed
runs_as: train.py
launch: |
  python train.py --epochs 3
  python train.py --epochs 6 --resume
"""

import argparse

import lightning as L
import torch
from labkit import pick, seed_everything
from lightning.pytorch.callbacks import ModelCheckpoint, RichModelSummary, RichProgressBar
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

seed_everything()


class Encoder(L.LightningModule):
    def __init__(self, width):
        super().__init__()
        self.save_hyperparameters()
        self.features = nn.Sequential(nn.Linear(20, width), nn.GELU(), nn.LayerNorm(width))
        self.head = nn.Linear(width, 3)

    def training_step(self, batch, batch_idx):
        loss = nn.functional.cross_entropy(self.head(self.features(batch[0])), batch[1])
        self.log("train_loss", loss, prog_bar=True)
        return loss

    def validation_step(self, batch, batch_idx):
        logits = self.head(self.features(batch[0]))
        self.log_dict({"val_loss": nn.functional.cross_entropy(logits, batch[1]), "val_acc": (logits.argmax(1) == batch[1]).float().mean()}, prog_bar=True)

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=5e-3)
        return [optimizer], [torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 6)]


parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=3)
parser.add_argument("--resume", action="store_true")
args = parser.parse_args()
y = torch.arange(360) % 3
data = TensorDataset(torch.randn(3, 20)[y] + 0.8 * torch.randn(360, 20), y)
model = Encoder(pick([24, 32, 40]))
callbacks = [RichProgressBar(), RichModelSummary(max_depth=2), ModelCheckpoint("saved", save_last=True)]
trainer = L.Trainer(max_epochs=args.epochs, accelerator="cpu", callbacks=callbacks, logger=False)
trainer.fit(model, DataLoader(data, 20, shuffle=True), DataLoader(data, 60), ckpt_path="saved/last.ckpt" if args.resume else None)
for result in trainer.validate(model, DataLoader(data, 60)):
    print({name: round(value, 3) for name, value in result.items()})
