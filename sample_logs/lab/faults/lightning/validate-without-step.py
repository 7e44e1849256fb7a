"""After a fit without validation, trainer.validate (or test) is called on a module that has no such step: the training itself is done and saved.

cause: config.trainer
also: [code.user-exception]
not: [data.empty, checkpoint.save-failed]
signature: 'MisconfigurationException: No `'
step_basis: epoch
"""

import lightning as L
import torch
from labkit import note, pick, seed_everything
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

seed_everything()


class PolynomialFit(L.LightningModule):
    def __init__(self, degree: int):
        super().__init__()
        self.weights = nn.Parameter(torch.zeros(degree + 1))

    def training_step(self, batch, batch_idx):
        x, y = batch
        powers = torch.stack([x**k for k in range(len(self.weights))], dim=1)
        loss = ((powers @ self.weights - y) ** 2).mean()
        self.log("mse", loss, on_epoch=True, on_step=False)
        return loss

    def on_train_epoch_end(self):
        mse = self.trainer.callback_metrics["mse"].item()
        print(f"Epoch {self.current_epoch + 1}/{self.trainer.max_epochs} - mse: {mse:.5f}")
        note("loss", self.current_epoch + 1, float(f"{mse:.5f}"))

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=0.05)


x = torch.linspace(-1, 1, 256)
loader = DataLoader(TensorDataset(x, 0.5 - x + 2 * x**3), batch_size=32, shuffle=True)
trainer = L.Trainer(max_epochs=pick([8, 12, 6]), accelerator="cpu", enable_progress_bar=False, logger=False)
model = PolynomialFit(degree=pick([3, 4, 5]))
trainer.fit(model, loader)
trainer.save_checkpoint("poly.ckpt")
print("saved poly.ckpt")
evaluate = trainer.test if pick([False, True, False]) else trainer.validate
results = evaluate(model, DataLoader(TensorDataset(x, x**3), batch_size=64))
print(results)
