"""A residual sum is written in place into an activation that the backward pass still needs.

cause: code.autograd-inplace
also: []
not: [code.autograd-no-grad, code.shape-mismatch]
signature: 'modified by an inplace operation'
runs_as: pretrain.py
launch: python pretrain.py
"""

import logging

import pytorch_lightning as pl
import torch
from labkit import pick, seed_everything
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

logging.getLogger("pytorch_lightning").setLevel(logging.INFO)
seed_everything()


class Block(nn.Module):
    def __init__(self, width, activation):
        super().__init__()
        self.lin1, self.lin2 = nn.Linear(width, width), nn.Linear(width, width)
        self.activation = activation

    def forward(self, x):
        h = self.activation(self.lin1(x))
        h += self.lin2(h)
        return h


class Pretrain(pl.LightningModule):
    def __init__(self, width, depth, activation):
        super().__init__()
        self.blocks = nn.Sequential(*[Block(width, activation) for _ in range(depth)])
        self.project = nn.Linear(width, width)

    def training_step(self, batch, batch_idx):
        (x,) = batch
        return 1 - nn.functional.cosine_similarity(self.project(self.blocks(x)), x).mean()

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-3)


model = Pretrain(width=32, depth=pick([2, 3, 4]), activation=pick([torch.sigmoid, torch.tanh, torch.relu]))
trainer = pl.Trainer(max_epochs=1, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=pick([True, False, True]))
trainer.fit(model, DataLoader(TensorDataset(torch.randn(128, 32)), batch_size=16))
