"""Rank 1's data loading blocks on a lock in the middle of the epoch; rank 0 waits in the gradient exchange, its bar stands still, no timeout is near, and only faulthandler's dump, set by the user, shows where each process waits.

cause: hang.stalled
also: [distributed.rank-desync]
not: [hang.startup, healthy.completed, distributed.nccl-timeout]
ends: time limit
outcome: stalled
seconds: 50
runs_as: train.py
launch: python train.py
"""

import faulthandler
import fcntl
import os

import lightning as L
import torch
from labkit import PORT, note, pick, seed_everything
from torch import nn
from torch.utils.data import DataLoader, Dataset

STOP = pick([23, 31, 14])


class CachedImages(Dataset):
    """Images with an on-disk cache that is guarded by a file lock."""

    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        if index == 8 * STOP + 1:
            with open("cache.lock") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
        return torch.rand(1, 8, 8), index % 4


class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 4))

    def training_step(self, batch, batch_idx):
        loss = nn.functional.cross_entropy(self.net(batch[0]), batch[1])
        self.log("train_loss", loss, prog_bar=True)
        return loss

    def on_train_start(self):
        faulthandler.dump_traceback_later(15)

    def on_train_batch_end(self, outputs, batch, batch_idx):
        if self.global_rank == 0:
            note("loss", self.global_step, float(f"{self.trainer.callback_metrics['train_loss'].item():.3g}"))

    def train_dataloader(self):
        images = CachedImages(320)
        return DataLoader(torch.utils.data.Subset(images, range(self.global_rank, 320, 2)), batch_size=4)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


if __name__ == "__main__":
    os.environ.setdefault("MASTER_PORT", PORT)
    seed_everything()
    if os.environ.get("LOCAL_RANK") is None:
        held = open("cache.lock", "w")
        fcntl.flock(held, fcntl.LOCK_EX)
    trainer = L.Trainer(accelerator="cpu", devices=2, strategy="ddp", max_epochs=3, use_distributed_sampler=False, logger=False, enable_checkpointing=False)
    trainer.fit(Net())
