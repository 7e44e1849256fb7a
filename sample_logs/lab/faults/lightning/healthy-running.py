"""The log of a healthy run as it stands while the run is still going: a language model whose loss falls, with a validation now and then.

cause: healthy.running
also: [healthy.completed]
not: [hang.stalled, learning.plateau, scheduler.terminated, numerics.loss-spike]
outcome: running
runs_as: pretrain.py
launch: |
  python pretrain.py > run.out 2>&1
  awk '/^(step|validation)/ {shown++} {print} shown == 26 {exit}' run.out
"""

import time

import lightning as L
import torch
from labkit import note, pick, seed_everything
from lightning.pytorch.callbacks import Callback
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

seed_everything()
VOCAB = pick([64, 48, 80])


class PrintEvery(Callback):
    """One line every 20 steps, with rate and speed. Only what stands in the part of the log that is kept is noted."""

    def __init__(self, every):
        self.every, self.start, self.lines = every, time.perf_counter(), 0

    def line(self, text):
        self.lines += 1
        print(text, flush=True)
        return self.lines <= 26

    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        step = trainer.global_step
        if step % self.every == 0:
            loss, rate = outputs["loss"].item(), trainer.optimizers[0].param_groups[0]["lr"]
            if self.line(f"step {step}/{trainer.max_steps} | loss {loss:.4f} | lr {rate:.2e} | {step / (time.perf_counter() - self.start):.1f} steps/s"):
                note("loss", step, float(f"{loss:.4f}"))
                note("learning_rate", step, float(f"{rate:.2e}"))

    def on_validation_epoch_end(self, trainer, pl_module):
        loss = trainer.callback_metrics["val_loss"].item()
        if self.line(f"validation at step {trainer.global_step} | val_loss {loss:.4f}"):
            note("eval_loss", trainer.global_step, float(f"{loss:.4f}"))


class BigramLM(L.LightningModule):
    def __init__(self, dim=32):
        super().__init__()
        self.embed, self.mix, self.out = nn.Embedding(VOCAB, dim), nn.GRU(dim, dim, batch_first=True), nn.Linear(dim, VOCAB)

    def loss(self, tokens):
        states, _ = self.mix(self.embed(tokens[:, :-1]))
        return nn.functional.cross_entropy(self.out(states).flatten(0, 1), tokens[:, 1:].flatten())

    def training_step(self, batch, batch_idx):
        return self.loss(batch[0])

    def validation_step(self, batch, batch_idx):
        self.log("val_loss", self.loss(batch[0]))

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=pick([4e-3, 6e-3, 3e-3]))
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1, (step + 1) / 40))
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}


steps = torch.randint(1, 4, (3000, 17)).cumsum(1) * 2 % VOCAB
train, val = TensorDataset(steps[:2800]), TensorDataset(steps[2800:])
trainer = L.Trainer(
    max_steps=800,
    accelerator="cpu",
    callbacks=[PrintEvery(20)],
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    val_check_interval=100,
    check_val_every_n_epoch=None,
    num_sanity_val_steps=0,
)
trainer.fit(BigramLM(), DataLoader(train, batch_size=16, shuffle=True), DataLoader(val, batch_size=50))
