"""The model's weights alone are larger than the card: moving it there runs out of memory.

cause: memory.oom-at-load-or-save
also: [memory.cuda-oom]
not: [memory.cuda-fragmentation, memory.gpu-shared, memory.cuda-leak]
signature: 'CUDA out of memory'
runs_as: serve.py
needs: [gpu]
kept: []
seconds: 300
"""

import torch
from labkit import pick, seed_everything

seed_everything()

total = torch.cuda.get_device_properties(0).total_memory
layers = int(total * pick([1.1, 1.2, 1.3]) / (16384 * 16384 * 4)) + 1
print(f"loading a model of {layers} layers to {torch.cuda.get_device_name(0)}")
with torch.device("meta"):
    model = torch.nn.Sequential(*[torch.nn.Linear(16384, 16384, bias=False) for _ in range(layers)])
model = model.to_empty(device="cuda")
print("loaded")
