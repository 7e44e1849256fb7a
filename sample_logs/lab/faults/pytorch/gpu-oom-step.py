"""The batch is larger than the card holds: the first forward pass runs out of memory.

cause: memory.cuda-oom
also: []
not: [memory.cuda-fragmentation, memory.gpu-shared, memory.cuda-leak]
signature: 'CUDA out of memory'
runs_as: train.py
needs: [gpu]
kept: []
seconds: 300
"""

import torch
from labkit import pick, seed_everything

seed_everything()

total = torch.cuda.get_device_properties(0).total_memory
width = pick([8192, 16384, 4096])
batch = int(total * pick([0.55, 0.7, 0.6]) / (width * 4))
print(f"{torch.cuda.get_device_name(0)} batch={batch} width={width}")
model = torch.nn.Sequential(torch.nn.Linear(64, width), torch.nn.ReLU(), torch.nn.Linear(width, width), torch.nn.ReLU(), torch.nn.Linear(width, 1)).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for step in range(10):
    inputs = torch.randn(batch, 64, device="cuda")
    loss = model(inputs).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.4f}")
