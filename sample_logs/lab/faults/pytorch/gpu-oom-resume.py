"""The old checkpoint is read straight onto the card while the model and its buffers are there already.

cause: memory.oom-at-load-or-save
also: [memory.cuda-oom, checkpoint.resume-mismatch]
not: [memory.cuda-fragmentation, memory.gpu-shared, memory.cuda-leak, checkpoint.corrupt]
signature: 'CUDA out of memory'
runs_as: train.py
needs: [gpu]
kept: []
seconds: 300
"""

import torch
from labkit import pick, seed_everything

seed_everything()
torch.save({"model": {f"layers.{i}.weight": torch.zeros(16384, 16384) for i in range(3)}, "step": 12000}, "last.ckpt")
layers = torch.nn.ModuleList([torch.nn.Linear(16384, 16384, bias=False, device="cuda") for _ in range(3)])
bank = torch.empty(torch.cuda.mem_get_info()[0] - pick([1500, 1800, 1200]) * 2**20, dtype=torch.uint8, device="cuda")
print(f"model on cuda:0, memory bank of {bank.numel() / 2**30:.1f} GiB allocated")
print("Resume training from last.ckpt")
state = torch.load("last.ckpt", map_location="cuda")
print("step", state["step"])
