"""An auxiliary head does not take part in the loss, and the strategy is plain "ddp": in the second step DDP misses its gradients.

cause: distributed.ddp-unused-parameters
also: []
not: [distributed.ddp-marked-ready-twice, distributed.rank-desync, distributed.nccl-timeout, code.autograd-no-grad]
signature: 'has parameters that were not used in producing the loss'
runs_as: train.py
launch: python train.py
"""

import lightning as L
import torch
from labkit import PORT, pick, seed_everything
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class DepthModel(L.LightningModule):
    def __init__(self, width, auxiliary_weight):
        super().__init__()
        self.save_hyperparameters()
        self.encoder = nn.Sequential(nn.Conv2d(3, width, 3, padding=1), nn.ReLU())
        self.depth_head = nn.Conv2d(width, 1, 1)
        self.normals_head = nn.Conv2d(width, 3, 1)

    def training_step(self, batch, batch_idx):
        image, depth = batch
        features = self.encoder(image)
        loss = nn.functional.l1_loss(self.depth_head(features), depth)
        if self.hparams.auxiliary_weight > 0:
            loss = loss + self.hparams.auxiliary_weight * self.normals_head(features).norm(dim=1).mean()
        self.log("train_loss", loss, prog_bar=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


if __name__ == "__main__":
    import os

    os.environ.setdefault("MASTER_PORT", PORT)
    seed_everything()
    data = TensorDataset(torch.rand(64, 3, 12, 12), torch.rand(64, 1, 12, 12))
    model = DepthModel(width=pick([8, 12, 16]), auxiliary_weight=0.0)
    trainer = L.Trainer(accelerator="cpu", devices=2, strategy="ddp", max_epochs=2, logger=False, enable_checkpointing=False, enable_progress_bar=pick([True, False, True]))
    trainer.fit(model, DataLoader(data, batch_size=4))
