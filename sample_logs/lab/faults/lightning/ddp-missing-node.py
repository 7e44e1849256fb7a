"""num_nodes=2, but the second node is never started: the store waits for it until the strategy's timeout.

cause: distributed.rendezvous
also: [distributed.launcher]
not: [distributed.nccl-timeout, distributed.port-in-use, hang.startup]
signature: 'clients (has|have)? ?joined|Timed out after|DistStoreError|Timeout waiting'
first_failure: 'DistStoreError: |RuntimeError: '
runs_as: train_multinode.py
launch: |
  export MASTER_ADDR=localhost MASTER_PORT=$LAB_PORT NODE_RANK=0
  env | grep -E "^(MASTER_ADDR|NODE_RANK)="
  python train_multinode.py
"""

from datetime import timedelta

import pytorch_lightning as pl
import torch
from labkit import pick, seed_everything
from pytorch_lightning.strategies import DDPStrategy
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Linear(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 1)

    def training_step(self, batch, batch_idx):
        loss = (self.layer(batch[0]) - batch[1]).pow(2).mean()
        self.log("train_loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


if __name__ == "__main__":
    seed_everything()
    seconds = pick([6, 8, 5])
    strategy = DDPStrategy(process_group_backend="gloo", timeout=timedelta(seconds=seconds))
    trainer = pl.Trainer(accelerator="cpu", devices=1, num_nodes=pick([2, 2, 3]), strategy=strategy, max_epochs=1, logger=False)
    print(f"world size {trainer.world_size}, global rank {trainer.global_rank}, timeout {seconds}s")
    trainer.fit(Linear(), DataLoader(TensorDataset(torch.randn(64, 8), torch.randn(64, 1)), batch_size=8))
