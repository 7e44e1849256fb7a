"""ReduceLROnPlateau without a monitor, or on a metric that is logged under another name: Lightning stops at its set-up, or after the first epoch.

cause: config.trainer
also: [code.user-exception]
not: [data.schema, learning.plateau, healthy.completed]
signature: 'MisconfigurationException: .*(ReduceLROnPlateau|monitor)'
runs_as: run.py
launch: python run.py
"""

import lightning as L
import torch
from labkit import pick, seed_everything
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

L.seed_everything(7)
seed_everything()


class Ranker(L.LightningModule):
    def __init__(self, users: int, items: int, dim: int):
        super().__init__()
        self.users = nn.Embedding(users, dim)
        self.items = nn.Embedding(items, dim)

    def training_step(self, batch, batch_idx):
        user, item, rating = batch
        score = (self.users(user) * self.items(item)).sum(1)
        loss = nn.functional.mse_loss(score, rating)
        self.log("loss/train", loss, prog_bar=True, on_step=False, on_epoch=True)
        return loss

    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters(), lr=5e-3)
        scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=2)
        if pick([True, False, True]):
            return {"optimizer": optimizer, "lr_scheduler": {"scheduler": scheduler, "monitor": pick(["train_loss", "", "val_loss"])}}
        return [optimizer], [scheduler]


model = Ranker(50, 80, pick([8, 16, 12]))
triples = TensorDataset(torch.randint(0, 50, (600,)), torch.randint(0, 80, (600,)), torch.rand(600) * 4 + 1)
trainer = L.Trainer(accelerator="cpu", max_epochs=20, enable_checkpointing=False, logger=False)
trainer.fit(model, DataLoader(triples, batch_size=50, shuffle=True))
