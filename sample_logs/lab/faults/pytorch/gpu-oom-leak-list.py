"""Losses are appended to a list with their graphs: memory grows each step by the same amount until the card is full.

cause: memory.cuda-leak
also: []
not: [memory.cuda-fragmentation, memory.gpu-shared, memory.oom-at-eval]
signature: 'CUDA out of memory'
runs_as: meta.py
needs: [gpu]
kept: []
seconds: 300
"""

import torch
from labkit import note, pick, seed_everything
from torch.func import functional_call

seed_everything()
net = torch.nn.Sequential(torch.nn.Linear(2048, 2048), torch.nn.Tanh(), torch.nn.Linear(2048, 2048)).cuda()
meta_losses = []
rows = pick([131072, 163840, 98304])
for episode in range(1, 200):
    x = torch.randn(rows, 2048, device="cuda")
    loss = (net(x) - x).pow(2).mean()
    grads = torch.autograd.grad(loss, list(net.parameters()), create_graph=True)
    fast = {n: p - 0.01 * g for (n, p), g in zip(net.named_parameters(), grads)}
    outer = (functional_call(net, fast, (x[: rows // 4],))).pow(2).mean()
    meta_losses.append(outer)
    print(f"episode {episode:4d}  inner {loss.item():.5f}  outer {outer.item():.5f}  gpu_mem {torch.cuda.memory_allocated() / 2**20:.0f}MB")
    note("loss", episode, float(f"{outer.item():.5f}"))
print("meta loss", torch.stack(meta_losses).mean().item())
