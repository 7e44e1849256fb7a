"""A classifier learns while its rate warms up, then the rate is too high: the loss leaps up for an epoch or two and freezes at ln(classes), its ReLU units dead, one class predicted for everything.

cause: learning.collapse
also: [numerics.lr-divergence, learning.plateau]
not: [numerics.bad-batch, numerics.fp16-overflow, healthy.completed]
signature: "classes predicted: 1 of"
outcome: completed
step_basis: epoch
runs_as: main.py
launch: python main.py
"""

import argparse

import lightning.pytorch as pl
import torch
from labkit import note, pick, seed_everything
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

seed_everything()


class MLPClassifier(pl.LightningModule):
    def __init__(self, args):
        super().__init__()
        self.args = args
        layers = [nn.Linear(20, args.width), nn.ReLU()]
        for _ in range(args.depth):
            layers += [nn.Linear(args.width, args.width), nn.ReLU()]
        self.net = nn.Sequential(*layers, nn.Linear(args.width, 5))

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = nn.functional.cross_entropy(self.net(x), y)
        self.log("loss", loss, on_step=False, on_epoch=True)
        return loss

    def on_validation_epoch_start(self):
        self.predictions, self.targets = [], []

    def validation_step(self, batch, batch_idx):
        x, y = batch
        logits = self.net(x)
        self.predictions.append(logits.argmax(1))
        self.targets.append(y)
        self.log("val_loss", nn.functional.cross_entropy(logits, y))

    def on_train_epoch_end(self):
        metrics = {name: value.item() for name, value in self.trainer.callback_metrics.items()}
        predictions, targets = torch.cat(self.predictions), torch.cat(self.targets)
        accuracy = (predictions == targets).float().mean().item()
        print(f"Epoch {self.current_epoch:02d}: loss {metrics['loss']:.4f}, val_loss {metrics['val_loss']:.4f}, val_acc {accuracy:.3f}, classes predicted: {len(predictions.unique())} of 5")
        note("loss", self.current_epoch, float(f"{metrics['loss']:.4f}"))
        note("eval_loss", self.current_epoch, float(f"{metrics['val_loss']:.4f}"))

    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=self.args.lr, momentum=0.9)
        return [optimizer], [torch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: min(1.0, (epoch + 1) / self.args.warmup_epochs))]


parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=pick([0.8, 0.6, 0.5]))
parser.add_argument("--width", type=int, default=pick([64, 96, 48]))
parser.add_argument("--depth", type=int, default=3)
parser.add_argument("--warmup-epochs", type=int, default=8)
parser.add_argument("--clip", type=float, default=5.0)
parser.add_argument("--epochs", type=int, default=16)
args = parser.parse_args()
print(args)
centres = torch.randn(5, 20) * 2
y = torch.randint(0, 5, (1200,))
x = centres[y] + torch.randn(1200, 20) * 3
trainer = pl.Trainer(max_epochs=args.epochs, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False, num_sanity_val_steps=0, gradient_clip_val=args.clip)
trainer.fit(MLPClassifier(args), DataLoader(TensorDataset(x[:1000], y[:1000]), 50, shuffle=True), DataLoader(TensorDataset(x[1000:], y[1000:]), 200))
