"""A normal Lightning run with a test at the end, and the tables that it prints.

cause: healthy.completed
also: [healthy.running]
not: [performance.input-bound, learning.plateau, cuda.not-available, numerics.loss-spike]
outcome: completed
signature: ''
runs_as: fit.py
kept: []
"""
import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from labkit import pick, seed_everything

seed_everything()


class Classifier(L.LightningModule):
    def __init__(self, lr):
        super().__init__()
        self.lr, self.net = lr, nn.Sequential(nn.Linear(20, 128), nn.GELU(), nn.Linear(128, 4))

    def training_step(self, batch, batch_idx):
        loss = nn.functional.cross_entropy(self.net(batch[0]), batch[1])
        self.log("train_loss", loss, prog_bar=True)
        return loss

    def validation_step(self, batch, batch_idx):
        out = self.net(batch[0])
        self.log("val_loss", nn.functional.cross_entropy(out, batch[1]), prog_bar=True)
        self.log("val_acc", (out.argmax(1) == batch[1]).float().mean(), prog_bar=True)

    def test_step(self, batch, batch_idx):
        self.log("test_acc", (self.net(batch[0]).argmax(1) == batch[1]).float().mean())

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=self.lr)


y = torch.arange(1200) % 4
data = TensorDataset(torch.randn(4, 20)[y] * 1.2 + torch.randn(1200, 20), y)
trainer = L.Trainer(max_epochs=4, accelerator="cpu", devices=1, logger=False, enable_checkpointing=False)
trainer.fit(model := Classifier(pick([3e-3, 2e-3, 5e-3])), DataLoader(data, 60, shuffle=True), DataLoader(data, 200))
trainer.test(model, DataLoader(data, 200))
