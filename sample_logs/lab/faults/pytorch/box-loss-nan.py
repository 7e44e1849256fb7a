"""A detector's box loss is the mean over positive boxes: a batch without any object takes the mean of nothing, so this one component is NaN now and then, while the others stay finite.

cause: numerics.unstable-op
also: [numerics.bad-batch, numerics.nonfinite-unknown]
not: [numerics.lr-divergence, numerics.fp16-overflow, numerics.corrupt-weights, numerics.labels-all-masked]
signature: 'loss_bbox: nan'
runs_as: tools/train.py
launch: python tools/train.py configs/tiny_detector.py
"""

import sys
import time

import torch
from labkit import note, pick, seed_everything
from torch import nn

seed_everything()
BATCH, EMPTY = pick([(2, 0.25), (2, 0.3), (3, 0.4)])


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv2d(1, 16, 3, 2, 1), nn.ReLU(), nn.Conv2d(16, 32, 3, 2, 1), nn.ReLU())
        self.cls_head, self.box_head = nn.Conv2d(32, 1, 1), nn.Conv2d(32, 4, 1)

    def forward(self, images):
        features = self.backbone(images)
        return self.cls_head(features)[:, 0], self.box_head(features)

    def loss(self, images, positive, boxes):
        scores, offsets = self(images)
        offsets = offsets.permute(0, 2, 3, 1)[positive]
        loss_cls = nn.functional.binary_cross_entropy_with_logits(scores, positive.float())
        loss_bbox = nn.functional.l1_loss(offsets, boxes[positive])
        return {"loss_cls": loss_cls, "loss_bbox": loss_bbox}


def batch():
    images, positive = torch.rand(BATCH, 1, 32, 32) * 0.1, torch.zeros(BATCH, 8, 8, dtype=torch.bool)
    boxes = torch.rand(BATCH, 8, 8, 4)
    for number in range(BATCH):
        if torch.rand(1).item() > EMPTY:
            for y, x in torch.randint(0, 8, (int(torch.randint(1, 4, (1,))), 2)).tolist():
                positive[number, y, x] = True
                images[number, 0, 4 * y : 4 * y + 4, 4 * x : 4 * x + 4] += 1
    return images, positive, boxes


print("config:", sys.argv[1])
model = Detector()
optimizer = torch.optim.SGD([{"params": model.backbone.parameters()}, {"params": model.cls_head.parameters()}, {"params": model.box_head.parameters()}], lr=0.02, momentum=0.9)
for iteration in range(1, 101):
    started = time.time()
    images, positive, boxes = batch()
    losses = model.loss(images, positive, boxes)
    loss = sum(losses.values())
    optimizer.zero_grad()
    # Only a finite sum is worth a step.
    if torch.isfinite(loss):
        loss.backward()
        optimizer.step()
    if iteration % 2 == 0 or positive.sum() == 0:
        parts = "  ".join(f"{name}: {value.item():.4f}" for name, value in losses.items())
        print(f"Epoch(train) [1][{iteration:>3d}/100]  lr: 2.0000e-02  time: {time.time() - started:.4f}  num_pos: {positive.sum().item()}  loss: {loss.item():.4f}  {parts}")
        note("loss", iteration, float(f"{loss.item():.4f}"))
        for name, value in losses.items():
            note(name, iteration, float(f"{value.item():.4f}"))
        note("learning_rate", iteration, 0.02)
