"""num_nodes=2 and the default timeout of half an hour, but only one node is up: after 'Initializing distributed' nothing more is written.

cause: hang.startup
also: [scheduler.time-limit, distributed.rendezvous, distributed.launcher]
not: [hang.stalled, healthy.running, healthy.completed]
outcome: stalled
seconds: 60
runs_as: train.py
launch: |
  export MASTER_ADDR=127.0.0.1 MASTER_PORT=$LAB_PORT NODE_RANK=0
  echo "start: $(date '+%F %T')"
  timeout --verbose 30 python train.py
  status=$?
  echo "end:   $(date '+%F %T'), status $status"
  exit $status
"""

import logging

import lightning as L
import torch
from labkit import pick, seed_everything
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")


class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(10, 20), nn.ReLU(), nn.Linear(20, 2))

    def training_step(self, batch, batch_idx):
        x, y = batch
        return nn.functional.cross_entropy(self.net(x), y)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


if __name__ == "__main__":
    seed_everything()
    nodes = pick([2, 4, 2])
    logging.info("start, nodes=%d, max_epochs=%d", nodes, 10)
    data = TensorDataset(torch.randn(128, 10), torch.randint(0, 2, (128,)))
    trainer = L.Trainer(accelerator="cpu", devices=pick([1, 1, 2]), num_nodes=nodes, strategy="ddp", max_epochs=10, logger=False)
    trainer.fit(Net(), DataLoader(data, batch_size=16))
    logging.info("done")
