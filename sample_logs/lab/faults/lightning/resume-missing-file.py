"""A run is to go on from a checkpoint whose path does not exist (mistyped, or deleted by save_top_k).

cause: data.missing-file
also: [checkpoint.resume-mismatch]
not: [checkpoint.corrupt, io.permission, config.trainer]
signature: 'FileNotFoundError: '
runs_as: train.py
launch: |
  python train.py --epochs 2 --run first > first.log 2>&1
  case $LAB_SEED in 0) path=runs/first/last.ckpt ;; 1) path=runs/frist/epoch=1.ckpt ;; *) path=checkpoints/epoch=0.ckpt ;; esac
  python train.py --epochs 10 --run second --resume $path
"""

import argparse

import lightning as L
import torch
from labkit import pick, seed_everything
from lightning.pytorch.callbacks import ModelCheckpoint
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

seed_everything()


class SpeechCommands(L.LightningModule):
    def __init__(self, channels: int):
        super().__init__()
        self.save_hyperparameters()
        self.conv = nn.Sequential(nn.Conv1d(1, channels, 9, stride=4), nn.BatchNorm1d(channels), nn.ReLU(), nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(channels, 12))

    def training_step(self, batch, batch_idx):
        wave, word = batch
        loss = nn.functional.cross_entropy(self.conv(wave), word)
        self.log("train_loss", loss, prog_bar=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-3)


parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, required=True)
parser.add_argument("--run", required=True)
parser.add_argument("--resume")
args = parser.parse_args()
print(f"run={args.run} epochs={args.epochs} resume={args.resume}")
model = SpeechCommands(pick([16, 24, 32]))
loader = DataLoader(TensorDataset(torch.randn(64, 1, 400), torch.randint(0, 12, (64,))), batch_size=16, shuffle=True)
trainer = L.Trainer(max_epochs=args.epochs, accelerator="cpu", logger=False, callbacks=[ModelCheckpoint(f"runs/{args.run}", filename="{epoch}")])
trainer.fit(model, loader, ckpt_path=args.resume)
