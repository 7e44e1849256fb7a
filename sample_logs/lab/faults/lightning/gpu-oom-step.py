"""A Lightning module whose batch of volumes the card does not hold.

cause: memory.cuda-oom
also: []
not: [memory.cuda-fragmentation, memory.gpu-shared, memory.cuda-leak, memory.oom-at-eval]
signature: 'CUDA out of memory'
runs_as: train_volumes.py
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


class Segmenter(L.LightningModule):
    def __init__(self, width=64):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(*[layer for i in range(6) for layer in (nn.Conv3d(1 if i == 0 else width, width, 3, padding=1), nn.InstanceNorm3d(width), nn.ReLU())], nn.Conv3d(width, 3, 1))

    def training_step(self, batch, batch_idx):
        loss = nn.functional.cross_entropy(self.net(batch[0]), batch[1])
        self.log("train/loss", loss, prog_bar=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-3)


size = pick([224, 240, 256])
data = TensorDataset(torch.randn(8, 1, size, size, size), torch.zeros(8, size, size, size, dtype=torch.long))
trainer = L.Trainer(max_epochs=2, accelerator="gpu", devices=1, precision="bf16-mixed", logger=False, enable_checkpointing=False, log_every_n_steps=1)
trainer.fit(Segmenter(), DataLoader(data, batch_size=4))
