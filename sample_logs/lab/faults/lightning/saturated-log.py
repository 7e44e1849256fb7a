"""A hand-written binary cross entropy takes log(1 - p) of a sigmoid that has saturated to exactly 1: the loss falls nicely, then is NaN from one step to the next.

cause: numerics.unstable-op
also: [numerics.nonfinite-unknown]
not: [numerics.lr-divergence, numerics.bad-batch, numerics.fp16-overflow, numerics.gradient-explosion]
signature: 'loss[ =](nan|inf)'
"""

import lightning as L
import torch
from labkit import note, pick, seed_everything
from torch.utils.data import DataLoader, TensorDataset

seed_everything()
style = pick([0, 1, 0])


class ClickModel(L.LightningModule):
    """Logistic regression with a written-out likelihood."""

    def __init__(self, features: int, lr: float) -> None:
        super().__init__()
        self.lr = lr
        self.linear = torch.nn.Linear(features, 1)

    def training_step(self, batch, batch_idx):
        x, y = batch
        p = torch.sigmoid(self.linear(x)).squeeze(1)
        loss = -(y * torch.log(p) + (1 - y) * torch.log(1 - p)).mean()
        self.log_dict({"loss": loss, "p_min": p.min(), "p_max": p.max()})
        return loss

    def on_train_batch_end(self, outputs, batch, batch_idx):
        step = self.global_step
        if step % 5:
            return
        values = {name: value.item() for name, value in self.trainer.logged_metrics.items()}
        if style:
            print(f"step={step} loss={values['loss']:.5f} p_min={values['p_min']:.3e} p_max={values['p_max']:.7f}")
        else:
            print(f"[{step:>4d}/160] loss {values['loss']:.5f}   p in [{values['p_min']:.3e}, {values['p_max']:.7f}]")
        note("loss", step, float(f"{values['loss']:.5f}"))

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=self.lr)


x = torch.randn(640, 10) * 3
y = (x[:, 0] - x[:, 4] + 0.5 * x[:, 7] > 0).float()
model = ClickModel(10, lr=pick([0.05, 0.08, 0.03]))
print(f"model: {model.linear}, loss: -(y*log(p) + (1-y)*log(1-p)), optimizer: Adam(lr={model.lr}), dtype: {model.dtype}")
trainer = L.Trainer(max_epochs=8, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False)
trainer.fit(model, DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True))
print("final weights:", model.linear.weight.detach().abs().mean().item())
