"""The module defines training_step, but no configure_optimizers (in one variant it is misspelt): Lightning refuses to fit.

cause: config.trainer
also: [code.user-exception]
not: [code.autograd-no-grad, environment.version-incompatible, healthy.completed]
signature: 'MisconfigurationException: No `configure_optimizers'
"""

import logging

import lightning as L
import torch
from labkit import pick, seed_everything
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

logging.basicConfig(level="INFO", format="%(levelname)s | %(message)s")
log = logging.getLogger(__name__)
seed_everything()


class UNetLite(L.LightningModule):
    def __init__(self, channels: int):
        super().__init__()
        self.down = nn.Conv2d(1, channels, 3, padding=1, stride=2)
        self.up = nn.ConvTranspose2d(channels, 1, 2, stride=2)

    def forward(self, x):
        return self.up(torch.relu(self.down(x)))

    def training_step(self, batch, batch_idx):
        image, mask = batch
        return nn.functional.binary_cross_entropy_with_logits(self(image), mask)

    def configure_optimizer(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


channels = pick([8, 12, 16])
images = torch.rand(64, 1, 16, 16)
log.info("segmentation data %s, channels %d", tuple(images.shape), channels)
loader = DataLoader(TensorDataset(images, (images > 0.5).float()), batch_size=8)
trainer = L.Trainer(max_steps=pick([100, 50, 200]), accelerator="cpu", enable_progress_bar=False)
log.info("start of training, max_steps=%d", trainer.max_steps)
trainer.fit(UNetLite(channels), loader)
