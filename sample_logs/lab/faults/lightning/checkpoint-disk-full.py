r"""The file system for the checkpoints is full after some of them: saving fails, and the run with it.

cause: io.disk-full
also: [checkpoint.save-failed]
not: [checkpoint.corrupt, io.permission, memory.host-oom]
signature: '\w+Error: .*No space left on device'
needs: [tmpfs]
launch: |
  mkdir scratch && export TMPDIR=$PWD/scratch
  exec unshare -m bash -c 'mount -t tmpfs -o size=3m tmpfs scratch && df -h --output=size,used,avail,target scratch | sed "s# /.*# scratch#" && exec python train.py'
"""

import lightning as L
import torch
from labkit import note, pick, seed_everything
from lightning.pytorch.callbacks import ModelCheckpoint, TQDMProgressBar
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

seed_everything()


class DenoisingMLP(L.LightningModule):
    def __init__(self, width):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(64, width), nn.ReLU(), nn.Linear(width, 64))

    def training_step(self, batch, batch_idx):
        (clean,) = batch
        loss = nn.functional.mse_loss(self.net(clean + 0.3 * torch.randn_like(clean)), clean)
        self.log("train_loss", loss, prog_bar=True)
        return loss

    def on_train_batch_end(self, outputs, batch, batch_idx):
        if (batch_idx + 1) % 4 == 0:
            note("loss", self.global_step, float(f"{self.trainer.callback_metrics['train_loss'].item():.3g}"))

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


data = TensorDataset(torch.randn(256, 64))
every_epoch = ModelCheckpoint("scratch/checkpoints", filename="{epoch:02d}", save_top_k=-1, every_n_epochs=1)
trainer = L.Trainer(max_epochs=20, accelerator="cpu", callbacks=[every_epoch, TQDMProgressBar(refresh_rate=4)], logger=False)
model = DenoisingMLP(pick([384, 512, 256]))
trainer.fit(model, DataLoader(data, batch_size=32, shuffle=True))
