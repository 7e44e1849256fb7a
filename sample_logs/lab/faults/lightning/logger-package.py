"""A logger or callback whose package is not installed (tensorboard, wandb, rich): Lightning raises when it is made.

cause: environment.missing-package
also: [config.tracker]
not: [config.trainer, environment.version-incompatible]
signature: 'ModuleNotFoundError: '
runs_as: main.py
launch: python main.py
"""

import lightning as L
import torch
from labkit import pick, seed_everything
from lightning.pytorch.callbacks import RichProgressBar
from lightning.pytorch.loggers import TensorBoardLogger, WandbLogger
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

seed_everything()


class GraphMLP(L.LightningModule):
    def __init__(self, nodes=40):
        super().__init__()
        self.register_buffer("adjacency", (torch.rand(nodes, nodes) > 0.9).float())
        self.w1, self.w2 = nn.Linear(8, 16), nn.Linear(16, 3)

    def training_step(self, batch, batch_idx):
        x, y = batch
        hidden = torch.relu(self.adjacency @ self.w1(x))
        loss = nn.functional.cross_entropy(self.w2(hidden).flatten(0, 1), y.flatten())
        self.log("loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-2)


print("config:", {"nodes": 40, "epochs": 5, "batch_size": 8})
tracker = pick(["tensorboard", "wandb", "rich"])
model = GraphMLP()
callbacks, logger = [], None
if tracker == "tensorboard":
    logger = TensorBoardLogger("tb_logs", name="graph")
elif tracker == "wandb":
    logger = WandbLogger(project="graph")
else:
    callbacks = [RichProgressBar()]
trainer = L.Trainer(max_epochs=5, accelerator="cpu", logger=logger, callbacks=callbacks)
trainer.fit(model, DataLoader(TensorDataset(torch.randn(64, 40, 8), torch.randint(0, 3, (64, 40))), batch_size=8))
