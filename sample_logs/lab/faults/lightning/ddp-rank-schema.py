"""Each rank reads its own part of the records; those of rank 1 lack a field from some point on. Rank 1 raises, and rank 0, waiting in a collective, is killed or loses its peer.

cause: data.schema
also: [code.user-exception]
not: [distributed.peer-failure, distributed.nccl-timeout, distributed.rank-desync, scheduler.terminated]
signature: "KeyError: 'rating'"
runs_as: recommend.py
launch: python recommend.py
"""

import os

import lightning as L
import torch
from labkit import PORT, pick, seed_everything
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Part(Dataset):
    """Records of one rank; later ones were exported by another tool."""

    def __init__(self, rank, size=120):
        self.records = [{"user": i % 20, "item": i % 31, "rating": float(i % 5)} for i in range(size)]
        if rank == 1:
            self.records[pick([70, 44, 101]) :] = [{"user": i % 20, "item": i % 31, "score": float(i % 5)} for i in range(size - pick([70, 44, 101]))]

    def __len__(self):
        return len(self.records)

    def __getitem__(self, i):
        record = self.records[i]
        return record["user"], record["item"], record["rating"]


class Factors(L.LightningModule):
    def __init__(self, dim):
        super().__init__()
        self.user, self.item = nn.Embedding(20, dim), nn.Embedding(31, dim)

    def training_step(self, batch, batch_idx):
        user, item, rating = batch
        loss = ((self.user(user) * self.item(item)).sum(1) - rating.float()).pow(2).mean()
        print(f"[rank {self.global_rank}] step {self.global_step} loss {loss.item():.3f}", flush=True)
        return loss

    def train_dataloader(self):
        part = Part(self.global_rank)
        print(f"[rank {self.global_rank}] {len(part)} records", flush=True)
        return DataLoader(part, batch_size=10)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.02)


if __name__ == "__main__":
    os.environ.setdefault("MASTER_PORT", PORT)
    seed_everything()
    trainer = L.Trainer(
        accelerator="cpu", devices=2, strategy="ddp", max_epochs=3, use_distributed_sampler=False, logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False
    )
    trainer.fit(Factors(pick([8, 16, 4])))
