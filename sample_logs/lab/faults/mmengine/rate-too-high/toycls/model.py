import torch
import torch.nn.functional as F
from mmengine.model import BaseModel
from mmengine.registry import MODELS
from torch import nn


@MODELS.register_module()
class ToyClassifier(BaseModel):
    def __init__(self, width, num_classes, data_preprocessor=None, init_cfg=None):
        super().__init__(data_preprocessor=data_preprocessor, init_cfg=init_cfg)
        self.backbone = nn.Sequential(nn.Conv2d(1, width, 3, padding=1), nn.LeakyReLU(0.1), nn.Conv2d(width, width, 3, stride=2, padding=1), nn.LeakyReLU(0.1))
        self.head = nn.Sequential(nn.Flatten(), nn.Linear(width * 64, 64), nn.LeakyReLU(0.1), nn.Linear(64, num_classes))

    def forward(self, inputs, data_samples=None, mode="tensor"):
        scores = self.head(self.backbone(inputs))
        if mode == "loss":
            return dict(loss=F.cross_entropy(scores, torch.as_tensor(data_samples)))
        return scores
