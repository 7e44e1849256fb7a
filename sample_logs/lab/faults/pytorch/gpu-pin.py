"""A data set that keeps its tensors on the card is read by a loader with pin_memory=True.

cause: code.device-mismatch
also: [code.user-exception]
not: [memory.cuda-oom, data.worker-crash, memory.host-oom]
signature: 'cannot pin'
runs_as: train_nerf.py
needs: [gpu]
kept: []
seconds: 300
"""

import torch
from torch.utils.data import DataLoader, TensorDataset
from labkit import pick, seed_everything

seed_everything()
rays = torch.randn(4096, 6, device="cuda")
print(f"loaded {len(rays)} rays from 100 views, near 2.0 far 6.0")
loader = DataLoader(TensorDataset(rays, torch.rand(4096, 3, device="cuda")), batch_size=pick([1024, 512, 256]), pin_memory=True)
net = torch.nn.Linear(6, 3).cuda()
for i, (ray, rgb) in enumerate(loader):
    print(f"[TRAIN] Iter: {i} Loss: {(net(ray) - rgb).pow(2).mean().item()}")
