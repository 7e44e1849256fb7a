"""A streaming data set gives rank 1 fewer batches than rank 0: rank 1 is through its epoch and reduces its metrics while rank 0 still averages gradients, until both time out.

cause: distributed.rank-desync
also: [data.exhausted]
not: [distributed.nccl-timeout, distributed.peer-failure, distributed.ddp-unused-parameters]
signature: 'RuntimeError: .*(Timed out|timed out|Connection closed)'
runs_as: stream_train.py
launch: python stream_train.py
"""

import os
from datetime import timedelta

import lightning as L
import torch
from labkit import PORT, pick, seed_everything
from lightning.pytorch.strategies import DDPStrategy
from torch import nn
from torch.utils.data import DataLoader, IterableDataset


class Shards(IterableDataset):
    """Every process reads the shards whose number fits its rank; the shards are of different lengths."""

    def __init__(self, lengths):
        self.lengths = lengths

    def __iter__(self):
        rank, world = int(os.environ.get("LOCAL_RANK", 0)), 2
        for number, length in enumerate(self.lengths):
            if number % world == rank:
                print(f"rank {rank}: shard {number} with {length} samples", flush=True)
                for _ in range(length):
                    yield torch.randn(6)


class StreamModel(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(6, 6)

    def training_step(self, batch, batch_idx):
        loss = nn.functional.mse_loss(self.net(batch), batch)
        self.log("train_loss", loss, on_epoch=True, sync_dist=True)
        print(f"rank {self.global_rank} batch {batch_idx} loss {loss.item():.4f}", flush=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


if __name__ == "__main__":
    os.environ.setdefault("MASTER_PORT", PORT)
    seed_everything()
    lengths = pick([[48, 24, 24, 24], [40, 32, 40, 16], [64, 40]])
    trainer = L.Trainer(
        accelerator="cpu", devices=2, strategy=DDPStrategy(timeout=timedelta(seconds=30)), max_epochs=2, logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False
    )
    trainer.fit(StreamModel(), DataLoader(Shards(lengths), batch_size=8))
