import argparse

import torch
from labkit import seed_everything
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--backbone")
args = parser.parse_args()
seed_everything()


class Detector(nn.Module):
    def __init__(self, path):
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv2d(3, 16, 3, 2), nn.ReLU(), nn.Conv2d(16, 32, 3, 2), nn.ReLU())
        self.box, self.score = nn.Conv2d(32, 4, 1), nn.Conv2d(32, 1, 1)
        print("loading pretrained backbone from", path)
        self.backbone.load_state_dict(torch.load(path, map_location="cpu"))

    def forward(self, x):
        h = self.backbone(x)
        return self.box(h), self.score(h)


model = Detector(args.backbone)
optimizer = torch.optim.SGD(model.parameters(), 0.01)
for step in range(30):
    box, score = model(torch.rand(2, 3, 64, 64))
    loss = box.square().mean() + nn.functional.binary_cross_entropy_with_logits(score, torch.ones_like(score))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, round(loss.item(), 4))
