"""The backbone is frozen and the head is left out of the loss (or all is detached, or frozen too): the loss has no graph to go back through.

cause: code.autograd-no-grad
also: []
not: [learning.plateau, code.autograd-inplace, config.trainer]
signature: 'does not require grad and does not have a grad_fn'
runs_as: finetune.py
launch: python finetune.py
"""

import lightning as L
import torch
from labkit import pick, seed_everything
from lightning.pytorch.callbacks import TQDMProgressBar
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

seed_everything()


class FineTuner(L.LightningModule):
    def __init__(self, classes: int, mode: str):
        super().__init__()
        self.mode = mode
        self.backbone = nn.Sequential(nn.Linear(20, 40), nn.ReLU(), nn.Linear(40, 40))
        self.head = nn.Linear(40, classes)
        self.backbone.requires_grad_(False)
        if mode == "all":
            self.requires_grad_(False)

    def training_step(self, batch, batch_idx):
        x, y = batch
        logits = self.head(self.backbone(x))
        if self.mode == "detach":
            logits = logits.detach()
        loss = nn.functional.cross_entropy(logits, y)
        if self.mode == "item":
            loss = torch.tensor(loss.item())
        self.log("train_loss", loss, prog_bar=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


model = FineTuner(classes=pick([3, 6, 4]), mode=pick(["all", "detach", "item"]))
print("trainable tensors:", sum(p.requires_grad for p in model.parameters()), "of", len(list(model.parameters())))
trainer = L.Trainer(max_epochs=2, accelerator="cpu", callbacks=[TQDMProgressBar(refresh_rate=10)], logger=False)
trainer.fit(model, DataLoader(TensorDataset(torch.randn(200, 20), torch.randint(0, 3, (200,))), batch_size=20))
