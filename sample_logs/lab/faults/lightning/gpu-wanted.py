"""accelerator="gpu" (or "cuda") on a machine without a usable GPU: the Trainer refuses at its construction.

cause: cuda.not-available
also: [config.trainer]
not: [distributed.device-count, cuda.driver-too-old, environment.missing-package]
signature: 'MisconfigurationException: '
needs: [no-gpu]
dump_command: pip list --disable-pip-version-check
"""

import logging

import lightning as L
import torch
from labkit import pick, seed_everything
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

logging.basicConfig(format="[%(asctime)s] %(message)s", level=logging.INFO)
seed_everything()


class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = nn.Sequential(nn.Flatten(), nn.Linear(28 * 28, 64), nn.ReLU(), nn.Linear(64, 10))

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = nn.functional.cross_entropy(self.layer(x), y)
        self.log("train_loss", loss, prog_bar=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


logging.info("torch %s, lightning %s, torch.cuda.is_available()=%s", torch.__version__, L.__version__, torch.cuda.is_available())
images, digits = torch.rand(256, 1, 28, 28), torch.randint(0, 10, (256,))
logging.info("loaded %d images", len(images))
options = pick([{"accelerator": "gpu", "devices": 1}, {"accelerator": "cuda", "devices": "auto"}, {"accelerator": "gpu", "devices": 1, "precision": "16-mixed"}])
trainer = L.Trainer(max_epochs=5, **options)
trainer.fit(Net(), DataLoader(TensorDataset(images, digits), batch_size=32))
