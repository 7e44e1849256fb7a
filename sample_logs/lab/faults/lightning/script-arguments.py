"""The launch script gives an option that the training script does not know, or one with a value of the wrong kind: argparse ends the program.

cause: config.arguments
also: []
not: [config.trainer, code.user-exception, environment.version-incompatible]
signature: 'error: '
runs_as: train.py
launch: |
  echo "node: $(uname -s), python: $(python -V), start of job"
  case $LAB_SEED in
    0) python train.py --batch_size 32 --max-epochs 3 --learning-rate 1e-3 ;;
    1) python train.py --batch-size thirty-two --max-epochs 3 ;;
    *) python train.py --max-epochs 3 --arch resnet50 ;;
  esac
"""

import argparse

import lightning as L
import torch
from labkit import seed_everything
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Classifier(L.LightningModule):
    def __init__(self, arch: str, lr: float):
        super().__init__()
        self.lr = lr
        hidden = {"mlp-small": 16, "mlp-base": 64, "mlp-large": 256}[arch]
        self.net = nn.Sequential(nn.Linear(10, hidden), nn.ReLU(), nn.Linear(hidden, 2))

    def training_step(self, batch, batch_idx):
        x, y = batch
        return nn.functional.cross_entropy(self.net(x), y)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=self.lr)


def cli():
    parser = argparse.ArgumentParser(description="Train a classifier with Lightning.")
    parser.add_argument("--arch", choices=["mlp-small", "mlp-base", "mlp-large"], default="mlp-small")
    parser.add_argument("--batch-size", type=int, default=32, help="samples per step")
    parser.add_argument("--max-epochs", type=int, default=10)
    parser.add_argument("--lr", type=float, default=1e-3, help="peak learning rate")
    parser.add_argument("--devices", default="auto")
    return parser.parse_args()


if __name__ == "__main__":
    args = cli()
    seed_everything()
    data = TensorDataset(torch.randn(128, 10), torch.randint(0, 2, (128,)))
    L.Trainer(accelerator="cpu", max_epochs=args.max_epochs, devices=args.devices).fit(Classifier(args.arch, args.lr), DataLoader(data, args.batch_size))
