"""The running loss is summed with its graph: allocated memory grows by the same amount each step until the card is full.

cause: memory.cuda-leak
also: []
not: [memory.cuda-fragmentation, memory.gpu-shared]
signature: 'CUDA out of memory'
runs_as: train_lm.py
needs: [gpu]
kept: []
seconds: 300
"""

import torch
from labkit import note, pick, seed_everything

seed_everything()

total = torch.cuda.get_device_properties(0).total_memory
rows = int(total / pick([60, 80, 50]) / (4096 * 4 * 4))
model = torch.nn.Sequential(*[layer for _ in range(3) for layer in (torch.nn.Linear(4096, 4096), torch.nn.GELU())], torch.nn.Linear(4096, 16)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
running = 0.0
for step in range(1, 400):
    loss = model(torch.randn(rows, 4096, device="cuda")).pow(2).mean()
    optimizer.zero_grad()
    loss.backward(retain_graph=True)
    optimizer.step()
    running = running + loss
    print(f"step {step} | loss {loss.item():.4f} | allocated {torch.cuda.memory_allocated() / 2**30:.2f} GiB")
    note("loss", step, float(f"{loss.item():.4f}"))
