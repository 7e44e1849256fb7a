r"""The user's own F1 metric fails after the first epoch: a class that is never predicted makes it divide by zero.

cause: code.user-exception
not: [config.registry, numerics.unstable-op, healthy.completed]
signature: 'ZeroDivisionError: .+'
runs_as: train_intent.py
launch: |
  python train_intent.py --epochs 4
  code=$?
  python -m mmnotes work_dirs
  exit $code
"""

import argparse

import torch
from labkit import SEED, pick
from mmengine.evaluator import BaseMetric
from mmengine.model import BaseModel
from mmengine.runner import Runner
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

INTENTS = pick([7, 9, 8])


class MacroF1(BaseMetric):
    default_prefix = "intent"

    def process(self, data_batch, data_samples):
        for scores, label in zip(*data_samples, strict=True):
            self.results.append({"pred": scores.argmax().item(), "label": label.item()})

    def compute_metrics(self, results):
        values = []
        for intent in range(INTENTS):
            hits = sum(item["pred"] == item["label"] == intent for item in results)
            predicted = sum(item["pred"] == intent for item in results)
            actual = sum(item["label"] == intent for item in results)
            precision, recall = hits / predicted, hits / actual
            values.append(2 * precision * recall / (precision + recall))
        return {"f1": sum(values) / INTENTS}


class IntentNet(BaseModel):
    def __init__(self):
        super().__init__()
        self.bag = nn.EmbeddingBag(500, 24)
        self.head = nn.Linear(24, INTENTS)

    def forward(self, tokens, labels, mode):
        scores = self.head(self.bag(tokens))
        return {"loss": nn.functional.cross_entropy(scores, labels)} if mode == "loss" else (scores, labels)


parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=4)
args = parser.parse_args()
torch.manual_seed(SEED)
labels = torch.multinomial(torch.tensor([40.0, 25.0, 15.0, 10.0, 6.0, 5.0, 4.0, 4.0, 4.0][:INTENTS]), 700, replacement=True)
tokens = torch.randint(0, 300, (700, 12)) + labels[:, None] * 25
runner = Runner(
    IntentNet(),
    "work_dirs/intent",
    train_dataloader=DataLoader(TensorDataset(tokens[:560], labels[:560]), batch_size=20, shuffle=True),
    val_dataloader=DataLoader(TensorDataset(tokens[560:], labels[560:]), batch_size=35),
    train_cfg=dict(by_epoch=True, max_epochs=args.epochs),
    val_cfg=dict(),
    val_evaluator=[MacroF1()],
    optim_wrapper=dict(optimizer=dict(type="Adam", lr=1e-4)),
    default_hooks=dict(logger=dict(type="LoggerHook", interval=7)),
    randomness=dict(seed=SEED),
)
runner.train()
