import numpy as np
import torch
from mmengine.registry import DATASETS
from torch.utils.data import Dataset


@DATASETS.register_module()
class ShapesDataset(Dataset):
    """Bars of six orientations on a noisy 16x16 ground, values 0 to 255."""

    def __init__(self, size, seed=7):
        draw = np.random.RandomState(seed)
        self.labels = draw.randint(0, 6, size)
        rows, columns = np.mgrid[-8:8, -8:8]
        self.images = []
        for label in self.labels:
            angle = np.pi * label / 6 + draw.normal(0, 0.05)
            bar = np.abs(rows * np.cos(angle) + columns * np.sin(angle)) < 1.5
            self.images.append(np.clip(bar * 160 + draw.normal(60, 25, (16, 16)), 0, 255).astype(np.float32))

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return dict(inputs=torch.from_numpy(self.images[index])[None], data_samples=int(self.labels[index]))
