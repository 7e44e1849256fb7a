"""Out of memory in backward though expandable segments are on: hardly anything is reserved and free.

cause: memory.cuda-oom
also: []
not: [memory.cuda-fragmentation, memory.gpu-shared, memory.cuda-leak]
signature: 'CUDA out of memory'
variables: {PYTORCH_ALLOC_CONF: 'expandable_segments:True'}
environment: transformers
runs_as: train_hires.py
needs: [gpu]
kept: []
seconds: 300
"""

import torch
from labkit import pick, seed_everything
from torch import nn
from tqdm import trange

seed_everything()
net = nn.Sequential(*[layer for i in range(8) for layer in (nn.Conv2d(3 if i == 0 else 96, 96, 3, padding=1), nn.GELU())], nn.Conv2d(96, 3, 1)).cuda()
opt = torch.optim.Adam(net.parameters(), 1e-4)
print("PYTORCH_ALLOC_CONF=expandable_segments:True")
sizes = [512, 768, 1024, 2048, pick([4096, 5120, 4608])]
bar = trange(len(sizes), desc="progressive growing")
for i in bar:
    x = torch.rand(12, 3, sizes[i], sizes[i], device="cuda")
    loss = (net(x) - x).abs().mean()
    opt.zero_grad(); loss.backward(); opt.step()
    bar.set_postfix(res=sizes[i], l1=f"{loss.item():.4f}", mem=f"{torch.cuda.max_memory_allocated() / 2**30:.0f}G")
