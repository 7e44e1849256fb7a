"""An IterableDataset draws from two streams with next(); the smaller one runs out, and StopIteration inside the generator becomes a RuntimeError in the middle of the epoch.

cause: data.exhausted
also: [code.user-exception]
not: [data.empty, data.worker-crash, healthy.completed]
signature: 'RuntimeError: generator raised StopIteration'
runs_as: train_semi.py
launch: python train_semi.py
"""

import lightning as L
import torch
from labkit import note, pick, seed_everything
from lightning.pytorch.callbacks import TQDMProgressBar
from torch import nn
from torch.utils.data import DataLoader, IterableDataset

seed_everything()
labelled, unlabelled = pick([(160, 640), (96, 480), (256, 800)])


def samples(count, with_label):
    for _ in range(count):
        x = torch.randn(10)
        yield (x, (x.sum() > 0).long()) if with_label else x


class MixedStream(IterableDataset):
    def __iter__(self):
        labelled_iter = samples(labelled, with_label=True)
        for u in samples(unlabelled, with_label=False):
            x, y = next(labelled_iter)
            yield x, y, u


class SemiSupervised(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 2))

    def training_step(self, batch, batch_idx):
        x, y, u = batch
        consistency = (self.net(u).softmax(1) - self.net(u + 0.1 * torch.randn_like(u)).softmax(1)).pow(2).mean()
        loss = nn.functional.cross_entropy(self.net(x), y) + consistency
        self.log("loss", loss, prog_bar=True)
        return loss

    def on_train_batch_end(self, outputs, batch, batch_idx):
        note("loss", self.global_step, float(f"{self.trainer.callback_metrics['loss'].item():.3g}"))

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=3e-3)


print(f"labelled samples: {labelled}, unlabelled samples: {unlabelled}")
trainer = L.Trainer(max_epochs=5, accelerator="cpu", callbacks=[TQDMProgressBar(refresh_rate=1)], enable_checkpointing=False)
trainer.fit(SemiSupervised(), DataLoader(MixedStream(), batch_size=16))
