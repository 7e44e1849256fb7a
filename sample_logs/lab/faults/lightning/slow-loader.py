"""A healthy run whose loader takes most of every step (each item is decoded slowly, no worker); the simple profiler's table and a line of the user's own show it.

cause: performance.input-bound
also: [healthy.completed, performance.slow]
not: [hang.stalled, learning.plateau, memory.host-oom]
outcome: completed
signature: 'waiting for data'
runs_as: train.py
launch: python train.py
"""

import time
import zlib

import lightning as L
import torch
from labkit import note, pick, seed_everything
from torch import nn
from torch.utils.data import DataLoader, Dataset

seed_everything()


class Scans(Dataset):
    """Compressed scans that are unpacked on every access."""

    def __init__(self, count):
        self.packed = [zlib.compress(torch.randn(1, 24, 24).numpy().tobytes(), 9) for _ in range(count)]

    def __len__(self):
        return len(self.packed)

    def __getitem__(self, i):
        start = time.perf_counter()
        while time.perf_counter() - start < pick([0.02, 0.015, 0.025]):
            scan = torch.frombuffer(bytearray(zlib.decompress(self.packed[i])), dtype=torch.float32).view(1, 24, 24)
        return scan, scan.mean().sign().long().clamp(0)


class ScanNet(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(1, 4, 5, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(400, 2))

    def training_step(self, batch, batch_idx):
        loss = nn.functional.cross_entropy(self.net(batch[0]), batch[1])
        self.log("train_loss", loss, prog_bar=True)
        return loss

    def on_train_batch_end(self, outputs, batch, batch_idx):
        note("loss", self.global_step, float(f"{self.trainer.callback_metrics['train_loss'].item():.3g}"))

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


trainer = L.Trainer(max_epochs=2, accelerator="cpu", profiler="simple", enable_checkpointing=False, log_every_n_steps=5)
trainer.fit(ScanNet(), DataLoader(Scans(96), batch_size=8, shuffle=True, num_workers=0))
durations = trainer.profiler.recorded_durations
waiting, epochs = (sum(durations[name]) for name in ("[_TrainingEpochLoop].train_dataloader_next", "run_training_epoch"))
print(f"waiting for data: {waiting:.1f} s of {epochs:.1f} s")
