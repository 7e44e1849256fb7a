"""Another process holds nearly all of the card's memory: a small model does not fit.

cause: memory.gpu-shared
also: []
not: [memory.cuda-fragmentation, memory.cuda-leak]
signature: 'CUDA out of memory'
runs_as: train.py
needs: [gpu]
kept: []
seconds: 300
"""

import subprocess
import sys

import torch
from labkit import pick, seed_everything

seed_everything()
holder = "import torch, time; free, _ = torch.cuda.mem_get_info(); kept = torch.empty(free - %d * 2**20, dtype=torch.uint8, device='cuda'); print('ready', flush=True); time.sleep(120)" % pick([900, 1200, 1000])
other = subprocess.Popen([sys.executable, "-c", holder], stdout=subprocess.PIPE, text=True)
other.stdout.readline()
model = torch.nn.Sequential(*[torch.nn.Linear(4096, 4096) for _ in range(40)])
print(f"model: {sum(p.numel() for p in model.parameters()) / 1e6:.0f} M parameters")
try:
    model.cuda()
finally:
    other.kill()
