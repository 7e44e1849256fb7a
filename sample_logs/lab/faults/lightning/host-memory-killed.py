"""A data set that caches every decoded item in memory grows past the container's limit; the kernel's OOM killer ends the process, and only the shell says so.

cause: memory.host-oom
also: []
not: [memory.cuda-oom, scheduler.terminated, scheduler.cancelled, data.worker-crash]
signature: 'Killed'
needs: [cgroup]
memory_mib: 1400
runs_as: train_video.py
launch: |
  python train_video.py
  status=$?
  echo "exit status: $status"
  exit $status
"""

import pytorch_lightning as pl
import torch
from labkit import pick, seed_everything
from torch import nn
from torch.utils.data import DataLoader, Dataset

seed_everything()


class Clips(Dataset):
    def __init__(self, count, frames):
        self.count, self.frames, self.cache = count, frames, {}

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        if index not in self.cache:
            self.cache[index] = torch.rand(self.frames, 3, 64, 64)
        return self.cache[index].mean((0, 2, 3)), index % 2

    def megabytes(self):
        return sum(clip.nbytes for clip in self.cache.values()) // 2**20


class ClipClassifier(pl.LightningModule):
    def __init__(self, clips):
        super().__init__()
        self.clips = clips
        self.net = nn.Linear(3, 2)

    def training_step(self, batch, batch_idx):
        loss = nn.functional.cross_entropy(self.net(batch[0]), batch[1])
        if batch_idx % 4 == 0:
            print(f"batch {batch_idx:3d} loss {loss.item():.4f} clip cache {self.clips.megabytes()} MB", flush=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


clips = Clips(2000, frames=pick([32, 48, 40]))
trainer = pl.Trainer(max_epochs=2, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False)
trainer.fit(ClipClassifier(clips), DataLoader(clips, batch_size=8))
