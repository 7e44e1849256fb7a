"""A contrastive loss takes the square root of a squared distance; for a pair of equal samples its gradient is 0/0, which detect_anomaly turns into an exception with the forward traceback.

cause: numerics.unstable-op
also: [numerics.nonfinite-unknown]
not: [numerics.lr-divergence, numerics.fp16-overflow, code.user-exception]
signature: 'returned nan values'
runs_as: siamese.py
launch: python siamese.py
"""

import lightning as L
import torch
import torch.nn.functional as F
from labkit import note, pick, seed_everything
from lightning.pytorch.callbacks import TQDMProgressBar
from torch import nn
from torch.utils.data import DataLoader, Dataset

seed_everything()


class Pairs(Dataset):
    """Pairs of embeddings; a few pairs hold one sample twice, as random sampling of pairs does."""

    def __init__(self, count: int, width: int):
        self.items = torch.randn(count, width)
        self.left = torch.randint(0, count, (count,))
        self.right = torch.randint(0, count, (count,))
        self.right[pick([217, 150, 333])] = self.left[pick([217, 150, 333])]

    def __len__(self):
        return len(self.left)

    def __getitem__(self, i):
        return self.items[self.left[i]], self.items[self.right[i]], (self.left[i] % 4 == self.right[i] % 4).float()


class SiameseNet(L.LightningModule):
    def __init__(self, width: int, margin: float):
        super().__init__()
        self.margin = margin
        self.tower = nn.Sequential(nn.Linear(width, 32), nn.ReLU(), nn.Linear(32, 8))

    def contrastive_loss(self, a, b, same):
        distance = torch.sqrt(torch.sum((a - b) ** 2, dim=1))
        return (same * distance**2 + (1 - same) * F.relu(self.margin - distance) ** 2).mean()

    def training_step(self, batch, batch_idx):
        a, b, same = batch
        loss = self.contrastive_loss(self.tower(a), self.tower(b), same)
        self.log("loss", loss, prog_bar=True)
        return loss

    def on_train_batch_end(self, outputs, batch, batch_idx):
        if (batch_idx + 1) % 4 == 0:
            note("loss", self.global_step, float(f"{self.trainer.callback_metrics['loss'].item():.3g}"))

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


model = SiameseNet(16, margin=pick([1.0, 2.0, 0.5]))
trainer = L.Trainer(max_epochs=5, accelerator="cpu", detect_anomaly=True, logger=False, enable_checkpointing=False, callbacks=[TQDMProgressBar(refresh_rate=4)])
trainer.fit(model, DataLoader(Pairs(512, 16), batch_size=16))
