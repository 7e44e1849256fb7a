"""A shard of the data is a pipe that nobody writes to: the reader waits in the middle of the epoch, and the output stops without an error.

cause: hang.stalled
also: [io.storage, scheduler.time-limit, scheduler.terminated]
not: [hang.startup, healthy.completed, data.exhausted, data.worker-crash]
outcome: stalled
seconds: 90
runs_as: train_stream.py
launch: |
  echo "=== job start $(date '+%F %T')"
  timeout --verbose -k 3 40 python train_stream.py
  status=$?
  echo "=== job end $(date '+%F %T'), exit code $status"
  exit $status
"""

import logging
import os

import lightning.pytorch as pl
import torch
from labkit import note, pick, seed_everything
from torch import nn
from torch.utils.data import DataLoader, IterableDataset

logging.basicConfig(level=logging.INFO, format="%(asctime)s [%(levelname)s] %(message)s")
log = logging.getLogger("train_stream")


class CSVShards(IterableDataset):
    def __init__(self, paths):
        self.paths = paths

    def __iter__(self):
        for path in self.paths:
            with open(path) as lines:
                for line in lines:
                    *x, y = (float(value) for value in line.split(","))
                    yield torch.tensor(x), torch.tensor(y)


class Regression(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))

    def training_step(self, batch, batch_idx):
        loss = nn.functional.mse_loss(self.net(batch[0]).squeeze(1), batch[1])
        if self.global_step % 5 == 0:
            log.info("step=%d loss=%.4f", self.global_step, loss.item())
            note("loss", self.global_step, float(f"{loss.item():.4f}"))
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=5e-3)


def write_shards(count, stuck):
    os.makedirs("shards")
    paths = [f"shards/{i:02d}.csv" for i in range(count)]
    for i, path in enumerate(paths):
        if i == stuck:
            os.mkfifo(path)
            continue
        rows = torch.randn(64, 4)
        with open(path, "w") as out:
            out.writelines(",".join(f"{v:.5f}" for v in [*row.tolist(), row.sum().item()]) + "\n" for row in rows)
    return paths


if __name__ == "__main__":
    seed_everything()
    paths = write_shards(40, stuck=pick([17, 23, 11]))
    log.info("%d shards, batch size 8", len(paths))
    trainer = pl.Trainer(accelerator="cpu", max_epochs=3, logger=False, enable_checkpointing=False, enable_progress_bar=False)
    trainer.fit(Regression(), DataLoader(CSVShards(paths), batch_size=8))
    log.info("finished")
