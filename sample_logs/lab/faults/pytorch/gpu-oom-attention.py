"""One tensor alone is many times the card: attention scores over all patches of a slide.

cause: memory.cuda-oom
also: [data.sequence-too-long]
not: [memory.cuda-fragmentation, memory.gpu-shared, memory.cuda-leak]
signature: 'CUDA out of memory'
runs_as: mil.py
needs: [gpu]
kept: []
seconds: 300
"""

import torch
from labkit import pick, seed_everything

seed_everything()
proj = torch.nn.Linear(1024, 256).cuda()
print("Namespace(data_root='slides', model='transmil', lr=0.0002, max_epochs=200, bag_loss='ce', drop_out=True)")
for slide, patches in enumerate([1201, 8873, 15420, pick([310233, 288112, 402718])]):
    x = proj(torch.randn(patches, 1024, device="cuda"))
    y = (x @ x.T / 16).softmax(-1) @ x
    print(f"batch {slide}, loss: {y.pow(2).mean().item():.4f}, label: {slide % 2}, bag_size: {patches}")
