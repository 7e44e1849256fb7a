"""Blocks of many sizes are freed alternately; the memory that is reserved but unallocated would do, yet no piece is large enough.

cause: memory.cuda-fragmentation
also: [memory.cuda-oom]
not: [memory.gpu-shared]
signature: 'CUDA out of memory'
runs_as: train_varlen.py
needs: [gpu]
kept: []
seconds: 300
"""

import torch
from labkit import pick, seed_everything

seed_everything()

total = torch.cuda.get_device_properties(0).total_memory
size = pick([192, 256, 160]) * 2**20
kept = [torch.empty(size, dtype=torch.uint8, device="cuda") for _ in range(int(total * 0.97 / size) - 4)]
del kept[::2]
print(f"allocated {torch.cuda.memory_allocated() / 2**30:.1f} GiB, reserved {torch.cuda.memory_reserved() / 2**30:.1f} GiB")
torch.cuda.set_per_process_memory_fraction(1.0)
batch = torch.empty(size * 8, dtype=torch.uint8, device="cuda")
print(batch.shape)
