r"""Weights saved from the DDP wrapper are loaded into the bare model for a test.

cause: checkpoint.key-mismatch
also: []
not: [checkpoint.shape-mismatch, checkpoint.corrupt]
signature: 'Missing key\(s\) in state_dict'
first_failure: 'Error\(s\) in loading state_dict'
runs_as: train.py
launch: |
  torchrun --nproc-per-node 1 --master-port $LAB_PORT train.py
  python train.py --test
kept: []
"""
import sys
import torch
import torch.distributed as dist
from torch import nn
from labkit import pick, seed_everything

seed_everything()
model = nn.Sequential(nn.Linear(16, pick([32, 64, 48])), nn.ReLU(), nn.LazyLinear(4))
model(torch.zeros(1, 16))
if "--test" not in sys.argv:
    dist.init_process_group("gloo")
    model = nn.parallel.DistributedDataParallel(model)
    for epoch in range(3):
        loss = model(torch.randn(32, 16)).pow(2).mean()
        loss.backward()
        print(f"Train Epoch: {epoch} [1/1 (100%)]\tLoss: {loss.item():.6f}")
    torch.save(model.state_dict(), "ddp.pt")
    dist.destroy_process_group()
else:
    print("testing with ddp.pt")
    model.load_state_dict(torch.load("ddp.pt"))
