r"""A run goes on from its last checkpoint with another vocabulary or class count than before: the sizes of embedding and head do not fit.

cause: checkpoint.shape-mismatch
also: [checkpoint.resume-mismatch]
not: [code.shape-mismatch, checkpoint.corrupt, checkpoint.key-mismatch]
signature: 'size mismatch for'
first_failure: 'RuntimeError: Error\(s\) in loading state_dict'
runs_as: train_intent.py
launch: |
  case $LAB_SEED in 0) first="--labels 8" second="--labels 11" ;; 1) first="--vocab 300" second="--vocab 420" ;; *) first="--width 32" second="--width 48" ;; esac
  echo "=== day 1"; python train_intent.py $first --epochs 2
  echo "=== day 2"; python train_intent.py $second --epochs 4 --resume
"""

import argparse

import lightning as L
import torch
from labkit import seed_everything
from lightning.pytorch.callbacks import ModelCheckpoint, TQDMProgressBar
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

seed_everything()


class IntentModel(L.LightningModule):
    def __init__(self, vocab: int, width: int, labels: int):
        super().__init__()
        self.save_hyperparameters()
        self.embedding = nn.Embedding(vocab, width)
        self.encoder = nn.GRU(width, width, batch_first=True)
        self.head = nn.Linear(width, labels)

    def training_step(self, batch, batch_idx):
        tokens, intent = batch
        loss = nn.functional.cross_entropy(self.head(self.encoder(self.embedding(tokens))[1][0]), intent)
        self.log("loss", loss, prog_bar=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=2e-3)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--vocab", type=int, default=300)
    parser.add_argument("--width", type=int, default=32)
    parser.add_argument("--labels", type=int, default=8)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--resume", action="store_true")
    args = parser.parse_args()
    print(args)
    tokens = torch.randint(0, args.vocab, (192, 12))
    loader = DataLoader(TensorDataset(tokens, tokens[:, 0] % args.labels), batch_size=32, shuffle=True)
    trainer = L.Trainer(max_epochs=args.epochs, accelerator="cpu", logger=False, callbacks=[ModelCheckpoint("intent", save_last=True), TQDMProgressBar(refresh_rate=6)])
    trainer.fit(IntentModel(args.vocab, args.width, args.labels), loader, ckpt_path="intent/last.ckpt" if args.resume else None)
