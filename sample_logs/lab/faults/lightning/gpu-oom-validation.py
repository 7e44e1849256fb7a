"""Validation outputs are kept on the card for a metric over the whole epoch: the sanity check passes, the real validation does not.

cause: memory.oom-at-eval
also: [memory.cuda-oom, memory.cuda-leak]
not: [memory.cuda-fragmentation, memory.gpu-shared]
signature: 'CUDA out of memory'
runs_as: retrieval.py
needs: [gpu]
kept: []
seconds: 300
"""

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from labkit import pick, seed_everything

seed_everything()


class Retrieval(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(64, 512), nn.ReLU(), nn.Linear(512, pick([400000, 300000, 500000])))
        self.scores = []

    def training_step(self, batch, batch_idx):
        loss = nn.functional.cross_entropy(self.encoder(batch[0])[:, :100], batch[1])
        self.log("train_loss", loss, prog_bar=True)
        return loss

    def validation_step(self, batch, batch_idx):
        out = self.encoder(batch[0])
        self.scores.append(out)
        self.log("val_loss", nn.functional.cross_entropy(out[:, :100], batch[1]), prog_bar=True)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=1e-2)


def loader(rows, size):
    return DataLoader(TensorDataset(torch.randn(rows, 64), torch.randint(0, 100, (rows,))), batch_size=size)


L.Trainer(max_epochs=1, accelerator="gpu", devices=1, logger=False, enable_checkpointing=False).fit(Retrieval(), loader(640, 64), loader(120000, 2048))
