r"""A checkpoint of a model with batch norm is loaded into one that was built without it (or the other way round): keys are missing or unexpected.

cause: checkpoint.key-mismatch
also: []
not: [checkpoint.corrupt, checkpoint.shape-mismatch, checkpoint.unsafe-load, code.shape-mismatch]
signature: '(Missing|Unexpected) key'
first_failure: 'RuntimeError: Error\(s\) in loading state_dict'
runs_as: evaluate.py
launch: |
  case $LAB_SEED in 1) before=none after=batch ;; 2) before=batch after=layer ;; *) before=batch after=none ;; esac
  python evaluate.py --norm $before --fit model.ckpt
  python evaluate.py --norm $after --load model.ckpt
"""

import argparse

import lightning as L
import torch
from labkit import pick, seed_everything
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

seed_everything()
NORMS = {"batch": nn.BatchNorm1d, "layer": nn.LayerNorm, "none": lambda width: nn.Identity()}


class Segmenter(L.LightningModule):
    def __init__(self, width=24, norm="batch"):
        super().__init__()
        self.encoder = nn.Sequential()
        for i in range(pick([2, 3, 2])):
            self.encoder.add_module(f"linear{i}", nn.Linear(width, width))
            self.encoder.add_module(f"norm{i}", NORMS[norm](width))
        self.head = nn.Linear(width, 4)

    def forward(self, x):
        return self.head(torch.relu(self.encoder(x)))

    def training_step(self, batch, batch_idx):
        return nn.functional.cross_entropy(self(batch[0]), batch[1])

    def test_step(self, batch, batch_idx):
        self.log("test_acc", (self(batch[0]).argmax(1) == batch[1]).float().mean())

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())


parser = argparse.ArgumentParser()
parser.add_argument("--norm", choices=NORMS, default="batch")
parser.add_argument("--fit")
parser.add_argument("--load")
args = parser.parse_args()
loader = DataLoader(TensorDataset(torch.randn(128, 24), torch.randint(0, 4, (128,))), batch_size=32)
trainer = L.Trainer(max_epochs=3, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False)
if args.fit:
    trainer.fit(Segmenter(norm=args.norm), loader)
    trainer.save_checkpoint(args.fit)
    print(f"wrote {args.fit}")
else:
    print(f"loading {args.load} into a model with norm={args.norm}")
    model = Segmenter.load_from_checkpoint(args.load, norm=args.norm)
    trainer.test(model, loader)
