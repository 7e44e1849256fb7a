"""Rank 1 waits in the store for a key that rank 0 sets under another name; rank 0 goes on to the first collective: each waits for the other, and no step is ever done.

cause: hang.startup
also: [distributed.rank-desync]
not: [hang.stalled, healthy.running, distributed.rendezvous]
ends: time limit
outcome: stalled
seconds: 45
runs_as: main.py
launch: python main.py
"""

import os
from datetime import timedelta

import lightning as L
import torch
from labkit import PORT, pick, seed_everything
from torch import nn
from torch.distributed.distributed_c10d import _get_default_store as store
from torch.utils.data import DataLoader, TensorDataset


class TextData(L.LightningDataModule):
    def setup(self, stage):
        rank = self.trainer.global_rank
        if rank == 0:
            print(f"rank {rank}: building the vocabulary", flush=True)
            self.vocabulary = {f"word{i}": i for i in range(pick([200, 150, 180]))}
            torch.save(self.vocabulary, "vocabulary.pt")
            store().set("vocabulary", "ready")
            print(f"rank {rank}: {len(self.vocabulary)} words saved", flush=True)
        else:
            print(f"rank {rank}: waiting for the vocabulary", flush=True)
            store().wait(["vocab"], timedelta(hours=2))
            self.vocabulary = torch.load("vocabulary.pt")
            print(f"rank {rank}: {len(self.vocabulary)} words loaded", flush=True)

    def train_dataloader(self):
        return DataLoader(TensorDataset(torch.randint(0, 200, (64, 8)), torch.randint(0, 2, (64,))), batch_size=8)


class BagOfWords(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.bag = nn.EmbeddingBag(200, 2)

    def training_step(self, batch, batch_idx):
        loss = nn.functional.cross_entropy(self.bag(batch[0]), batch[1])
        self.log("train_loss", loss, prog_bar=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())


if __name__ == "__main__":
    os.environ.setdefault("MASTER_PORT", PORT)
    seed_everything()
    trainer = L.Trainer(accelerator="cpu", devices=2, strategy="ddp", max_epochs=1, logger=False, enable_checkpointing=False)
    trainer.fit(BagOfWords(), datamodule=TextData())
