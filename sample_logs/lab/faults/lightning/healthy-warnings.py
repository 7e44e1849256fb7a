"""A healthy run with the warnings that frighten beginners: few workers, shuffled validation, no tensorboard, more logging steps than batches, a checkpoint folder that is not empty; it learns and reaches max_epochs.

cause: healthy.completed
also: [healthy.running]
not: [performance.input-bound, config.trainer, environment.missing-package, learning.plateau, checkpoint.save-failed]
outcome: completed
runs_as: train_classifier.py
launch: |
  mkdir -p checkpoints && touch checkpoints/last.ckpt
  python train_classifier.py
"""

import lightning as L
import torch
import torchmetrics
from labkit import note, pick, seed_everything
from lightning.pytorch.callbacks import ModelCheckpoint, TQDMProgressBar
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

L.seed_everything(1, workers=True)
seed_everything()


class Classifier(L.LightningModule):
    def __init__(self, width: int, lr: float):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(nn.Linear(16, width), nn.ReLU(), nn.Linear(width, 4))
        self.val_acc = torchmetrics.Accuracy(task="multiclass", num_classes=4)

    def training_step(self, batch, batch_idx):
        loss = nn.functional.cross_entropy(self.net(batch[0]), batch[1])
        self.log("train_loss", loss, prog_bar=True)
        return loss

    def validation_step(self, batch, batch_idx):
        logits = self.net(batch[0])
        self.val_acc(logits, batch[1])
        self.log("val_loss", nn.functional.cross_entropy(logits, batch[1]), prog_bar=True)
        self.log("val_acc", self.val_acc, prog_bar=True)

    def on_train_batch_end(self, outputs, batch, batch_idx):
        if (batch_idx + 1) % 5 == 0:
            note("loss", self.global_step, float(f"{self.trainer.callback_metrics['train_loss'].item():.3g}"))

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=self.hparams.lr)


centres = torch.randn(4, 16)
labels = torch.arange(480) % 4
data = TensorDataset(centres[labels] + 0.7 * torch.randn(480, 16), labels)
train, val = torch.utils.data.random_split(data, [400, 80])
model = Classifier(pick([32, 64, 48]), lr=pick([5e-3, 3e-3, 8e-3]))
best = ModelCheckpoint("checkpoints", monitor="val_loss", save_last=True)
trainer = L.Trainer(max_epochs=pick([5, 6, 4]), accelerator="auto", log_every_n_steps=50, callbacks=[best, TQDMProgressBar(refresh_rate=5)])
trainer.fit(model, DataLoader(train, 20, shuffle=True), DataLoader(val, 20, shuffle=True))
print("best model:", best.best_model_path)
