"""A healthy two-process DDP run on the CPU: gloo, a warning that no parameter was unused, one that metrics are not synchronised, and the end at max_steps.

cause: healthy.completed
also: [healthy.running]
not: [distributed.ddp-unused-parameters, distributed.rank-desync, distributed.nccl-network, hang.stalled]
outcome: completed
runs_as: train_ddp.py
launch: python train_ddp.py
"""

import os

import lightning as L
import torch
from labkit import PORT, note, pick, seed_everything
from lightning.pytorch.callbacks import TQDMProgressBar
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class SeqModel(L.LightningModule):
    def __init__(self, dim):
        super().__init__()
        self.embed = nn.Embedding(40, dim)
        self.mix = nn.Conv1d(dim, dim, 3, padding=1)
        self.head = nn.Linear(dim, 40)

    def forward(self, tokens):
        return self.head(torch.relu(self.mix(self.embed(tokens).transpose(1, 2))).transpose(1, 2))

    def training_step(self, batch, batch_idx):
        (tokens,) = batch
        loss = nn.functional.cross_entropy(self(tokens).flatten(0, 1), tokens.flatten())
        self.log("train_loss", loss, prog_bar=True)
        return loss

    def validation_step(self, batch, batch_idx):
        (tokens,) = batch
        self.log("val_loss", nn.functional.cross_entropy(self(tokens).flatten(0, 1), tokens.flatten()), prog_bar=True)

    def on_train_batch_end(self, outputs, batch, batch_idx):
        if self.global_rank == 0 and (batch_idx + 1) % 5 == 0:
            note("loss", self.global_step, float(f"{self.trainer.callback_metrics['train_loss'].item():.3g}"))

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=5e-3)


if __name__ == "__main__":
    os.environ.setdefault("MASTER_PORT", PORT)
    seed_everything()
    tokens = torch.randint(0, 40, (400, 12))
    train, val = TensorDataset(tokens[:320]), TensorDataset(tokens[320:])
    trainer = L.Trainer(accelerator="cpu", devices=2, strategy="ddp_find_unused_parameters_true", max_steps=pick([40, 50, 60]), callbacks=[TQDMProgressBar(refresh_rate=5)], enable_checkpointing=False)
    trainer.fit(SeqModel(pick([16, 24, 32])), DataLoader(train, batch_size=16, shuffle=True), DataLoader(val, batch_size=16))
    if trainer.is_global_zero:
        print(f"done: {trainer.global_step} steps, val_loss {trainer.callback_metrics['val_loss']:.4f}")
