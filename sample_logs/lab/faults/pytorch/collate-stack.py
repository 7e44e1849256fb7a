"""A collate function of the user's own stacks detection targets with numpy; pictures hold different numbers of boxes.

cause: data.collation
also: [code.shape-mismatch, code.user-exception]
not: [data.schema, data.decode, data.empty]
signature: 'ValueError: all input arrays must have the same shape'
runs_as: train_detector.py
"""

import numpy as np
import torch
from labkit import pick, seed_everything
from torch.utils.data import DataLoader


class Scenes(torch.utils.data.Dataset):
    def __init__(self, count, crowd):
        self.count, self.crowd = count, crowd

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        draw = np.random.default_rng(index)
        boxes = 1 if index % self.crowd else 1 + index % 5
        return {"image": draw.random((3, 32, 32), dtype=np.float32), "boxes": draw.random((boxes, 4), dtype=np.float32)}


def collate(samples):
    images = np.stack([sample["image"] for sample in samples])
    boxes = np.stack([sample["boxes"] for sample in samples])
    return torch.from_numpy(images), torch.from_numpy(boxes)


seed_everything()
scenes = Scenes(200, pick([64, 48, 97]))
loader = DataLoader(scenes, batch_size=pick([4, 8, 2]), collate_fn=collate, sampler=range(1, 200))
backbone = torch.nn.Sequential(torch.nn.Conv2d(3, 16, 3, stride=2), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(16, 4))
optimizer = torch.optim.AdamW(backbone.parameters(), lr=1e-3)
print("Start training")
for iteration, (images, boxes) in enumerate(loader):
    loss = torch.nn.functional.smooth_l1_loss(backbone(images), boxes[:, 0])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"Epoch: [0]  [{iteration:3d}/{len(loader)}]  lr: 0.001000  loss_box_reg: {loss.item():.4f}  images: {tuple(images.shape)}  boxes: {tuple(boxes.shape)}")
