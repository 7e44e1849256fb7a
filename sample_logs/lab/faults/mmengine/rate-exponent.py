r"""The rate of a ten-class classifier is several powers of ten too small (a typing error in the exponent): the loss stays at ln 10 for the whole run and the accuracy at one tenth.

cause: learning.plateau
also: []
not: [healthy.completed, numerics.lr-divergence, learning.collapse]
signature: 'Epoch\(train\) \[6\]\[40/40\]'
runs_as: main.py
outcome: completed
launch: |
  python main.py
  code=$?
  python -m mmnotes work_dir
  exit $code
"""

import torch
import torch.nn.functional as F
from labkit import SEED, pick
from mmengine.evaluator import BaseMetric
from mmengine.model import BaseModel
from mmengine.registry import METRICS
from mmengine.runner import Runner
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class DigitNet(BaseModel):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv2d(1, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten())
        self.head = nn.Linear(128, 10)
        nn.init.zeros_(self.head.bias)
        nn.init.normal_(self.head.weight, std=0.01)

    def forward(self, images, labels, mode):
        scores = self.head(self.backbone(images))
        if mode == "loss":
            return {"loss": F.cross_entropy(scores, labels)}
        return scores, labels


@METRICS.register_module()
class Accuracy(BaseMetric):
    default_prefix = "digits"

    def process(self, data_batch, data_samples):
        scores, labels = data_samples
        self.results.append({"hits": (scores.argmax(1) == labels).sum().item(), "size": len(labels)})

    def compute_metrics(self, results):
        return {"accuracy": 100 * sum(item["hits"] for item in results) / sum(item["size"] for item in results)}


torch.manual_seed(SEED)
patterns = torch.randn(10, 1, 12, 12)
labels = torch.randint(0, 10, (1600,))
images = patterns[labels] + 0.6 * torch.randn(1600, 1, 12, 12)
runner = Runner(
    model=DigitNet(),
    work_dir="./work_dir",
    train_dataloader=DataLoader(TensorDataset(images[:1280], labels[:1280]), batch_size=32, shuffle=True),
    val_dataloader=DataLoader(TensorDataset(images[1280:], labels[1280:]), batch_size=64),
    train_cfg=dict(by_epoch=True, max_epochs=6, val_interval=2),
    val_cfg=dict(),
    val_evaluator=dict(type="Accuracy"),
    optim_wrapper=dict(optimizer=dict(type="SGD", lr=pick([1e-8, 5e-9, 2e-8]), momentum=0.9)),
    default_hooks=dict(logger=dict(type="LoggerHook", interval=pick([10, 20, 8]))),
    randomness=dict(seed=SEED),
)
runner.train()
