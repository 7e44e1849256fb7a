"""A classifier whose labels were shuffled away from their images: the loss stays at ln(classes) from the first epoch to the last, and the accuracy is that of guessing.

cause: learning.plateau
also: [data.schema]
not: [learning.collapse, numerics.lr-divergence, healthy.running]
signature: 'Epoch 5: 100%.*train_loss_epoch='
outcome: completed
note: why it does not learn (labels out of order) is not in the log
"""

import math

import lightning as L
import torch
import torchmetrics
from labkit import note, pick, seed_everything
from lightning.pytorch.callbacks import LearningRateMonitor, TQDMProgressBar
from lightning.pytorch.loggers import CSVLogger
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

seed_everything()
classes = pick([10, 6, 8])


class SmallCNN(L.LightningModule):
    def __init__(self, num_classes: int, lr: float):
        super().__init__()
        self.save_hyperparameters()
        self.features = nn.Sequential(nn.Conv2d(1, 8, 3, stride=2), nn.ReLU(), nn.Conv2d(8, 8, 3, stride=2), nn.ReLU(), nn.Flatten())
        self.classifier = nn.Linear(32, num_classes)
        self.criterion = nn.CrossEntropyLoss()
        self.accuracy = torchmetrics.Accuracy(task="multiclass", num_classes=num_classes)

    def forward(self, x):
        return self.classifier(self.features(x))

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = self.criterion(self(x), y)
        self.log("train_loss", loss, prog_bar=True, on_step=True, on_epoch=True)
        return loss

    def validation_step(self, batch, batch_idx):
        x, y = batch
        logits = self(x)
        self.log("val_loss", self.criterion(logits, y), prog_bar=True)
        self.log("val_acc", self.accuracy(logits, y), prog_bar=True)

    def on_train_batch_end(self, outputs, batch, batch_idx):
        if (batch_idx + 1) % 8 == 0 or batch_idx + 1 == self.trainer.num_training_batches:
            note("loss", self.global_step, float(f"{self.trainer.callback_metrics['train_loss_step'].item():.3g}"))

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=self.hparams.lr, momentum=0.9)


labels = torch.arange(800) % classes
images = torch.randn(classes, 1, 12, 12)[labels] + 0.5 * torch.randn(800, 1, 12, 12)
labels = labels[torch.randperm(800)]
train, val = random_split(TensorDataset(images, labels), [640, 160])
print(f"{len(train)} training images, {len(val)} validation images, {classes} classes, chance level loss {math.log(classes):.3f}")
trainer = L.Trainer(max_epochs=pick([6, 8, 7]), accelerator="cpu", logger=CSVLogger("runs", "cnn"), log_every_n_steps=10, callbacks=[TQDMProgressBar(refresh_rate=8), LearningRateMonitor()])
trainer.fit(SmallCNN(classes, lr=1e-3), DataLoader(train, 32, shuffle=True), DataLoader(val, 64))
