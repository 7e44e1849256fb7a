"""The hyper-parameters saved in a checkpoint hold an object of the user's own class (or a path); the weights-only loader of torch refuses them when the run is resumed or tested.

cause: checkpoint.unsafe-load
also: []
not: [checkpoint.corrupt, checkpoint.key-mismatch, environment.version-incompatible]
signature: 'Weights only load failed'
runs_as: main.py
launch: python main.py
step_basis: epoch
"""

from dataclasses import dataclass, field
from pathlib import Path

import lightning as L
import torch
from labkit import note, pick, seed_everything
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

seed_everything()


@dataclass
class OptimConfig:
    lr: float = 2e-3
    betas: tuple = (0.9, 0.99)
    schedule: list = field(default_factory=lambda: [2, 4])


class DetectorHead(L.LightningModule):
    def __init__(self, anchors: int, optim, root=None):
        super().__init__()
        self.save_hyperparameters()
        self.trunk = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU())
        self.boxes = nn.Conv2d(8, 4 * anchors, 1)

    def loss(self, batch):
        image, boxes = batch
        return nn.functional.smooth_l1_loss(self.boxes(self.trunk(image)).mean((2, 3)), boxes)

    def training_step(self, batch, batch_idx):
        loss = self.loss(batch)
        self.log("loss_bbox", loss, on_epoch=True, on_step=False)
        return loss

    def test_step(self, batch, batch_idx):
        self.log("test_loss", self.loss(batch))

    def on_train_epoch_end(self):
        value = self.trainer.callback_metrics["loss_bbox"].item()
        print(f"epoch={self.current_epoch} loss_bbox={value:.4f}")
        note("loss", self.current_epoch, float(f"{value:.4f}"))

    def configure_optimizers(self):
        rate = self.hparams.optim.lr if isinstance(self.hparams.optim, OptimConfig) else self.hparams.optim["lr"]
        return torch.optim.Adam(self.parameters(), lr=rate)


anchors = pick([3, 5, 3])
model = pick([DetectorHead(anchors, OptimConfig()), DetectorHead(anchors, {"lr": 1e-3}, root=Path("data") / "boxes"), DetectorHead(anchors, OptimConfig(lr=5e-3))])
loader = DataLoader(TensorDataset(torch.rand(64, 3, 12, 12), torch.rand(64, 4 * anchors)), batch_size=16)
trainer = L.Trainer(max_epochs=pick([3, 4, 5]), accelerator="cpu", logger=False, enable_progress_bar=False, default_root_dir="work")
trainer.fit(model, loader)
print("best checkpoint:", trainer.checkpoint_callback.best_model_path)
trainer.test(model, loader, ckpt_path="best")
