"""A limit or check interval of the Trainer that does not fit the length of the loader (a share of less than one batch, an interval beyond the epoch).

cause: config.trainer
also: []
not: [data.empty, data.exhausted, code.user-exception, healthy.completed]
signature: 'Exception: You (requested|have passed)|ValueError: +.val_check_interval'
runs_as: tools/fit.py
launch: python tools/fit.py
"""

import lightning.pytorch as pl
import torch
from labkit import pick, seed_everything
from lightning.pytorch.loggers import CSVLogger
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

seed_everything()
OPTIONS = pick([{"val_check_interval": 500}, {"limit_train_batches": 0.01}, {"overfit_batches": 1.5}])


class Tagger(pl.LightningModule):
    def __init__(self, vocab=200, tags=7):
        super().__init__()
        self.embed = nn.Embedding(vocab, 24)
        self.encoder = nn.GRU(24, 24, batch_first=True, bidirectional=True)
        self.out = nn.Linear(48, tags)

    def step(self, batch):
        words, tags = batch
        return nn.functional.cross_entropy(self.out(self.encoder(self.embed(words))[0]).transpose(1, 2), tags)

    def training_step(self, batch, batch_idx):
        loss = self.step(batch)
        self.log("train/loss", loss, prog_bar=True)
        return loss

    def validation_step(self, batch, batch_idx):
        self.log("val/loss", self.step(batch), prog_bar=True)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), 2e-3)


def sentences(count):
    return TensorDataset(torch.randint(0, 200, (count, 10)), torch.randint(0, 7, (count, 10)))


if __name__ == "__main__":
    train = DataLoader(sentences(640), batch_size=16, shuffle=True)
    val = DataLoader(sentences(64), batch_size=16)
    print(f"train batches: {len(train)}, val batches: {len(val)}, trainer options: {OPTIONS}")
    trainer = pl.Trainer(accelerator="cpu", max_epochs=3, logger=CSVLogger("."), num_sanity_val_steps=0, **OPTIONS)
    trainer.fit(Tagger(), train, val)
