"""precision="16-true" and targets in the hundreds: wherever an error passes 256 its square leaves float16's range, and the loss of that batch is inf.

cause: numerics.fp16-overflow
also: [numerics.nonfinite-unknown]
not: [numerics.lr-divergence, numerics.bad-batch, numerics.unstable-op, healthy.completed]
signature: 'loss[=:] ?(inf|nan)'
"""

import logging

import lightning as L
import torch
from labkit import note, pick, seed_everything
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(levelname)s: %(message)s")
logger = logging.getLogger("train")
seed_everything()
scale = pick([160.0, 220.0, 120.0])


class Forecaster(L.LightningModule):
    def __init__(self, lags: int) -> None:
        super().__init__()
        self.rnn = nn.GRU(1, 24, batch_first=True)
        self.head = nn.Linear(24, 1)

    def training_step(self, batch, batch_idx):
        x, y = batch
        states, _ = self.rnn(x)
        prediction = self.head(states[:, -1]).squeeze(1)
        loss = ((prediction - y) ** 2).mean()
        self.log_dict({"loss": loss, "prediction_max": prediction.abs().max(), "target_max": y.abs().max()})
        return loss

    def on_train_batch_end(self, outputs, batch, batch_idx):
        values = {key: value.item() for key, value in self.trainer.logged_metrics.items()}
        logger.info("step %d loss: %.3f max|prediction|: %.2f max|target|: %.1f", self.global_step, values["loss"], values["prediction_max"], values["target_max"])
        note("loss", self.global_step, float(f"{values['loss']:.3f}"))

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=1e-5)


series = torch.sin(torch.arange(800) / 20) * torch.linspace(0.2, 2.2, 800) * scale
windows = series.unfold(0, 25, 8)
logger.info("windows %s, first target %.1f, largest |target| %.1f", tuple(windows.shape), windows[0, -1], windows.abs().max())
trainer = L.Trainer(precision="16-true", accelerator="cpu", max_epochs=pick([2, 3, 2]), logger=False, enable_checkpointing=False, enable_progress_bar=False)
logger.info("precision=%s, optimizer=SGD(lr=1e-5)", trainer.precision)
trainer.fit(Forecaster(24), DataLoader(TensorDataset(windows[:, :24, None], windows[:, 24]), batch_size=4))
