"""A module still has training_epoch_end (or validation_epoch_end) of Lightning 1.x; 2.x refuses it at the start of fit.

cause: code.user-exception
also: [environment.version-incompatible, config.trainer]
not: [environment.missing-package, healthy.completed]
signature: 'NotImplementedError: Support for'
note: the user's own script calls an API that the installed version no longer has; after the taxonomy's rule (whose call) that is code, though an older Lightning would also cure it
"""

import pytorch_lightning as pl
import torch
from labkit import pick, seed_everything
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

seed_everything()
HOOK = pick(["training_epoch_end", "validation_epoch_end", "training_epoch_end"])


class BoringClassifier(pl.LightningModule):
    def __init__(self, hparams):
        super().__init__()
        self.save_hyperparameters(hparams)
        self.backbone = nn.Sequential(nn.Linear(hparams["in_features"], 32), nn.ReLU())
        self.head = nn.Linear(32, hparams["num_classes"])

    def training_step(self, batch, batch_idx):
        x, y = batch
        return {"loss": nn.functional.cross_entropy(self.head(self.backbone(x)), y)}

    def validation_step(self, batch, batch_idx):
        x, y = batch
        return {"val_loss": nn.functional.cross_entropy(self.head(self.backbone(x)), y)}

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=self.hparams.lr)


def epoch_end(self, outputs):
    name = "loss" if "training" in HOOK else "val_loss"
    print(f"mean {name}: {torch.stack([out[name] for out in outputs]).mean():.3f}")


setattr(BoringClassifier, HOOK, epoch_end)
hparams = {"in_features": 16, "num_classes": 4, "lr": pick([0.1, 0.05, 0.01])}
print("hparams", hparams)
data = TensorDataset(torch.randn(256, 16), torch.randint(0, 4, (256,)))
trainer = pl.Trainer(max_epochs=2, accelerator="cpu", logger=False)
trainer.fit(BoringClassifier(hparams), DataLoader(data, 32), DataLoader(data, 32))
