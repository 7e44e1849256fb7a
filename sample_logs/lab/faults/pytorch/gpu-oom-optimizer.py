"""Weights and gradients fit; AdamW's states, made in its first step, do not.

cause: memory.cuda-oom
also: []
not: [memory.cuda-fragmentation, memory.gpu-shared, memory.cuda-leak, memory.oom-at-eval, memory.oom-at-load-or-save]
signature: 'CUDA out of memory'
runs_as: full_finetune.py
needs: [gpu]
kept: []
seconds: 300
"""

import torch
from labkit import pick, seed_everything

seed_everything()
total = torch.cuda.get_device_properties(0).total_memory
layers = int(total * pick([0.36, 0.38, 0.34]) / (16384 * 16384 * 4))
model = torch.nn.Sequential(*[torch.nn.Linear(16384, 16384, bias=False, device="cuda") for _ in range(layers)])
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
print(f"full finetuning, {sum(p.numel() for p in model.parameters()) / 1e9:.2f}B trainable parameters, optimizer=adamw_torch, lr=1e-05")
for step in range(3):
    loss = model(torch.randn(4, 16384, device="cuda")).pow(2).mean()
    print(f"step {step}: forward ok, loss={loss.item():.3e}, allocated={torch.cuda.memory_allocated() / 2**30:.1f}GiB", flush=True)
    loss.backward()
    print(f"step {step}: backward ok, allocated={torch.cuda.memory_allocated() / 2**30:.1f}GiB", flush=True)
    optimizer.step()
