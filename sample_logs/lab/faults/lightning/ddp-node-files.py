"""Two nodes, one log file each: node 1 finds an empty array file in its part of the data and raises, node 0 only loses its connection.

cause: data.decode
also: [data.empty]
not: [distributed.peer-failure, distributed.nccl-network, distributed.nccl-timeout, distributed.rendezvous]
signature: 'EOFError: No data left in file'
first_failure_source: node1
runs_as: train.py
launch: |
  mkdir -p "$LAB_OUT" features && python train.py --make-features
  export MASTER_ADDR=127.0.0.1 MASTER_PORT=$LAB_PORT WORLD_SIZE=2 LOCAL_RANK=0
  NODE_RANK=0 python train.py > "$LAB_OUT/node0.log" 2>&1 &
  NODE_RANK=1 python train.py > "$LAB_OUT/node1.log" 2>&1
  status=$?
  wait
  exit $status
"""

import argparse
import os

import lightning as L
import numpy as np
import torch
from labkit import pick, seed_everything
from lightning.pytorch.loggers import CSVLogger
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Features(Dataset):
    def __init__(self, folder, node):
        self.paths = [f"{folder}/part-{node}-{i:03d}.npy" for i in range(60)]

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        values = torch.from_numpy(np.load(self.paths[index]))
        return values, values.mean() > 0


class Probe(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(16, 1)

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = nn.functional.binary_cross_entropy_with_logits(self.linear(x).squeeze(1), y.float())
        self.log("train_loss", loss, prog_bar=True)
        if batch_idx % 3 == 0:
            print(f"node {os.environ['NODE_RANK']} batch {batch_idx} loss {loss.item():.4f}", flush=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=0.01)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--make-features", action="store_true")
    args = parser.parse_args()
    seed_everything()
    if args.make_features:
        for node in range(2):
            for i in range(60):
                np.save(f"features/part-{node}-{i:03d}.npy", np.random.randn(16).astype(np.float32))
        open(f"features/part-1-{pick([37, 22, 49]):03d}.npy", "wb").close()
    else:
        trainer = L.Trainer(
            accelerator="cpu", num_nodes=2, devices=1, strategy="ddp", max_epochs=2, use_distributed_sampler=False, enable_progress_bar=False, logger=CSVLogger("."), enable_checkpointing=False
        )
        trainer.fit(Probe(), DataLoader(Features("features", os.environ["NODE_RANK"]), batch_size=4))
