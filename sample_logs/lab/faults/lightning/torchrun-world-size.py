"""torchrun starts two processes, the Trainer is told four devices (or two nodes): Lightning refuses, as the product is not the world size.

cause: distributed.launcher
also: [distributed.device-count, config.trainer]
not: [distributed.rendezvous, distributed.peer-failure, unknown.no-cause-shown]
signature: 'does not match the world size'
runs_as: pretrain.py
launch: torchrun --nproc-per-node 2 --master-port $LAB_PORT pretrain.py
"""

import lightning as L
import torch
from labkit import pick, seed_everything
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class MaskedModel(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.embed, self.out = nn.Embedding(64, 16), nn.Linear(16, 64)

    def training_step(self, batch, batch_idx):
        (tokens,) = batch
        return nn.functional.cross_entropy(self.out(self.embed(tokens)).flatten(0, 1), tokens.flatten())

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters())


seed_everything()
layout = pick([{"devices": 4}, {"devices": 2, "num_nodes": 2}, {"devices": 1}])
trainer = L.Trainer(accelerator="cpu", strategy="ddp", max_steps=100, logger=False, **layout)
trainer.fit(MaskedModel(), DataLoader(TensorDataset(torch.randint(0, 64, (256, 20))), batch_size=16))
