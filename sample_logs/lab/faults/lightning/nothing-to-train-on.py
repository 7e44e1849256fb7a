"""A filter (or a glob) leaves no sample: Lightning warns of a loader of length zero, stops with 'No training batches', and the program ends as if all were well.

cause: data.empty
also: [data.missing-file]
not: [healthy.completed, healthy.running, config.trainer, data.exhausted]
signature: 'No training batches'
first_failure: 'Total length of `DataLoader` across ranks is zero|No training batches'
runs_as: train_images.py
launch: python train_images.py
"""

from pathlib import Path

import lightning as L
import torch
from labkit import pick, seed_everything
from torch import nn
from torch.utils.data import DataLoader, Dataset

seed_everything()


class ImageFolder(Dataset):
    def __init__(self, root, pattern):
        self.paths = sorted(Path(root).glob(pattern))

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        return torch.load(self.paths[index])


class Embedder(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 36, 16))

    def training_step(self, batch, batch_idx):
        loss = self.net(batch).pow(2).mean()
        self.log("train_loss", loss, prog_bar=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


root = Path("images/train")
root.mkdir(parents=True)
for number in range(6):
    torch.save(torch.rand(3, 8, 8), root / f"{number:04d}.pth")
pattern = pick(["*.pt", "*/*.pth", "*.pt"])
dataset = ImageFolder(root, pattern)
print(f"image folder: {root}, pattern: {pattern}")
trainer = L.Trainer(max_epochs=10, accelerator="cpu", logger=False, enable_checkpointing=pick([True, False, False]), enable_progress_bar=pick([True, True, False]))
trainer.fit(Embedder(), DataLoader(dataset, batch_size=4))
print(f"training finished after {trainer.global_step} steps")
