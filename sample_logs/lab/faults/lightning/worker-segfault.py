"""A native decoder called through ctypes reads from a null pointer for one record: the DataLoader worker dies of a segmentation fault.

cause: data.worker-crash
also: [code.native-crash]
not: [memory.host-oom, memory.shm-exhausted, data.decode]
first_failure: 'Unexpected segmentation fault'
signature: 'RuntimeError: DataLoader worker .* is killed by signal'
runs_as: train_audio.py
launch: python train_audio.py
"""

import ctypes
import time

import lightning as L
import torch
from labkit import note, pick, seed_everything
from lightning.pytorch.callbacks import Callback
from torch import nn
from torch.utils.data import DataLoader, Dataset


class PackedAudio(Dataset):
    """Clips in one native buffer, found through a table of addresses; a clip that was not loaded has the address 0."""

    def __init__(self, clips, length=256):
        self.length = length
        self.buffers = [(ctypes.c_float * length)(*torch.randn(length).tolist()) for _ in range(clips)]
        self.addresses = [ctypes.addressof(buffer) for buffer in self.buffers]
        self.addresses[pick([150, 260, 201])] = 0

    def __len__(self):
        return len(self.addresses)

    def __getitem__(self, index):
        clip = torch.empty(self.length)
        time.sleep(0.02)  # reading is slow, so that the trainer waits for the worker when it dies
        ctypes.memmove(clip.data_ptr(), self.addresses[index], 4 * self.length)
        return clip, clip.mean().sign().long().clamp(0)


class PrintLoss(Callback):
    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        if trainer.global_step % 4 == 0:
            loss = outputs["loss"].item()
            print(f"step {trainer.global_step:5d}  loss {loss:.4f}", flush=True)
            note("loss", trainer.global_step, float(f"{loss:.4f}"))


class AudioNet(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Unflatten(1, (1, 256)), nn.Conv1d(1, 8, 16, stride=8), nn.ReLU(), nn.Flatten(), nn.LazyLinear(2))
        self.net(torch.zeros(1, 256))

    def training_step(self, batch, batch_idx):
        return nn.functional.cross_entropy(self.net(batch[0]), batch[1])

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), 1e-3)


if __name__ == "__main__":
    seed_everything()
    loader = DataLoader(PackedAudio(320), batch_size=8, num_workers=1, prefetch_factor=1)
    trainer = L.Trainer(max_epochs=2, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False, callbacks=[PrintLoss()])
    trainer.fit(AudioNet(), loader)
