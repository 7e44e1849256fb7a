import torch
import torch.nn.functional as F
from mmengine.model import BaseModel
from mmengine.registry import MODELS
from torch import nn


@MODELS.register_module()
class BirdClassifier(BaseModel):
    def __init__(self, num_classes, widths=(16, 32), data_preprocessor=None):
        super().__init__(data_preprocessor=data_preprocessor)
        layers, last = [], 3
        for width in widths:
            layers += [nn.Conv2d(last, width, 3, stride=2, padding=1), nn.BatchNorm2d(width), nn.ReLU()]
            last = width
        self.backbone = nn.Sequential(*layers)
        self.head = nn.Linear(last, num_classes)

    def forward(self, inputs, data_samples=None, mode="tensor"):
        scores = self.head(self.backbone(inputs).mean((2, 3)))
        if mode == "loss":
            return dict(loss=F.cross_entropy(scores, torch.as_tensor(data_samples)))
        return [dict(pred=one, label=other) for one, other in zip(scores.argmax(1), data_samples, strict=True)]
