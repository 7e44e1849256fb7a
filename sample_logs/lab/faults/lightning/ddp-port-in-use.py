"""The master port is taken by another server on the node: rank 0's store cannot listen.

cause: distributed.port-in-use
also: []
not: [distributed.rendezvous, distributed.nccl-network, distributed.peer-failure]
signature: 'EADDRINUSE|address already in use'
first_failure: 'DistNetworkError: |RuntimeError: .*in use'
runs_as: train.py
launch: |
  export MASTER_PORT=$LAB_PORT
  python -m http.server $MASTER_PORT > /dev/null 2>&1 &
  server=$!
  until python -c "import socket; socket.create_connection(('127.0.0.1', $MASTER_PORT)).close()" 2> /dev/null; do sleep 0.1; done
  python train.py
  status=$?
  kill $server
  exit $status
"""

import lightning as L
import torch
from labkit import pick, seed_everything
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

EPOCHS = pick([3, 5, 10])


class SineFit(L.LightningModule):
    def __init__(self, hidden=32):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(1, hidden), nn.Tanh(), nn.Linear(hidden, 1))

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = nn.functional.mse_loss(self.net(x), y)
        self.log("train_loss", loss, prog_bar=True, sync_dist=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-2)


def main():
    seed_everything()
    x = torch.rand(256, 1) * 6
    trainer = L.Trainer(accelerator="cpu", devices=pick([2, 1, 2]), strategy="ddp", max_epochs=EPOCHS, enable_checkpointing=False)
    trainer.fit(SineFit(), DataLoader(TensorDataset(x, x.sin()), batch_size=16))


if __name__ == "__main__":
    main()
