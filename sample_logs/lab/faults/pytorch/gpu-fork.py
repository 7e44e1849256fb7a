"""A loader's workers use the card after the parent has: a forked process cannot.

cause: code.serialization
also: [code.user-exception]
not: [memory.cuda-oom, data.worker-crash, cuda.not-available]
signature: 'Cannot re-initialize CUDA in forked subprocess'
runs_as: train_clip.py
needs: [gpu]
kept: []
seconds: 300
"""

import torch
from torch.utils.data import DataLoader, Dataset
from labkit import pick, seed_everything

seed_everything()
encoder = torch.nn.Linear(64, 32).cuda()


class Features(Dataset):
    def __len__(self):
        return 256

    def __getitem__(self, i):
        return encoder(torch.randn(64).cuda()).detach()


loader = DataLoader(Features(), batch_size=16, num_workers=pick([2, 4, 3]))
for step, batch in enumerate(loader):
    print(f"step {step}: {batch.shape}")
