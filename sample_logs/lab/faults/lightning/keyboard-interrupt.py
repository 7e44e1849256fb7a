"""The user stops the run with Ctrl-C: Lightning catches it and shuts down.

cause: scheduler.cancelled
also: []
not: [scheduler.terminated, scheduler.preempted, healthy.completed, code.user-exception]
signature: 'Detected KeyboardInterrupt'
runs_as: train.py
launch: |
  set -m
  python train.py > >(tee train.out) 2>&1 &
  pid=$!
  until grep -q "Epoch 1:" train.out 2> /dev/null; do sleep 0.05; done
  kill -INT $pid
  wait $pid
  status=$?
  sleep 0.5
  exit $status
"""

import time

import pytorch_lightning as pl
import torch
from labkit import pick, seed_everything
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

seed_everything()


class Denoiser(pl.LightningModule):
    def __init__(self, width):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(49, width), nn.GELU(), nn.Linear(width, 49))

    def training_step(self, batch, batch_idx):
        (x,) = batch
        time.sleep(0.05)
        loss = nn.functional.mse_loss(self.net(x + 0.2 * torch.randn_like(x)), x)
        self.log("train_loss", loss, prog_bar=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=2e-3)


model = Denoiser(pick([64, 96, 128]))
loader = DataLoader(TensorDataset(torch.rand(pick([320, 400, 256]), 49)), batch_size=16, shuffle=True)
trainer = pl.Trainer(max_epochs=50, accelerator="cpu", log_every_n_steps=5)
trainer.fit(model, loader)
