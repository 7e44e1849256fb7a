"""The card is full when cuBLAS wants its workspace: the first matrix product fails.

cause: cuda.cublas
also: [memory.cuda-oom]
not: [cuda.device-side-assert]
signature: 'CUBLAS_STATUS'
runs_as: train.py
needs: [gpu]
kept: []
seconds: 300
"""

import torch
from labkit import pick, seed_everything

seed_everything()

layer = torch.nn.Linear(256, 256).cuda()
inputs = torch.randn(64, 256, device="cuda")
free, _ = torch.cuda.mem_get_info()
buffers = [torch.empty(2**20, dtype=torch.uint8, device="cuda") for _ in range(free // 2**20 - pick([4, 6, 8]))]
print(f"replay buffers: {len(buffers)} MiB")
print(layer(inputs).sum().item())
