"""The shared memory folder is tiny: a loader's worker dies of a bus error while the card trains.

cause: memory.shm-exhausted
also: [data.worker-crash]
not: [memory.cuda-oom, memory.host-oom, code.native-crash]
signature: 'insufficient shared memory|bus error|No space left on device'
needs: [gpu, tmpfs]
runs_as: train_frames.py
launch: |
  unshare -m bash -c 'mount -t tmpfs -o size=24m tmpfs /dev/shm && df -h /dev/shm && python train_frames.py'
kept: []
seconds: 300
"""

import torch
from labkit import pick, seed_everything
from torch.utils.data import DataLoader, Dataset

seed_everything()


class Frames(Dataset):
    def __len__(self):
        return 400

    def __getitem__(self, i):
        return torch.randn(3, pick([256, 288, 224]), 256)


net = torch.nn.Conv2d(3, 8, 3).cuda()
for step, batch in enumerate(DataLoader(Frames(), 16, num_workers=4)):
    print(f"step {step} loss {net(batch.cuda()).pow(2).mean().item():.5f}", flush=True)
