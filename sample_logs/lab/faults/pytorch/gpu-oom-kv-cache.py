"""Sampling in the middle of training: the cache of keys and values grows with each token of a large batch.

cause: memory.oom-at-eval
also: [memory.cuda-oom]
not: [memory.cuda-fragmentation, memory.gpu-shared]
signature: 'CUDA out of memory'
runs_as: rollout.py
needs: [gpu]
kept: []
seconds: 300
"""

import torch
from labkit import note, pick, seed_everything

seed_everything()
layers, heads, width = 32, 32, 128
batch = pick([512, 640, 768])
policy = torch.nn.Linear(heads * width, heads * width).cuda().bfloat16()
optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-5)
for step in range(1, 9):
    x = torch.randn(256, heads * width, device="cuda", dtype=torch.bfloat16)
    loss = (policy(x) - x).float().pow(2).mean()
    optimizer.zero_grad(); loss.backward(); optimizer.step()
    print(f"[train] step {step}/200 | loss {loss.item():.4f} | mem {torch.cuda.max_memory_allocated() / 2**30:.1f} GiB")
    note("loss", step, float(f"{loss.item():.4f}"))
print(f"[rollout] generating {batch} completions, max_new_tokens=2048")
with torch.no_grad():
    keys = [torch.randn(batch, heads, 64, width, device="cuda", dtype=torch.bfloat16) for _ in range(2 * layers)]
    for token in range(0, 2048, 32):
        for i in range(2 * layers):
            keys[i] = torch.cat([keys[i], torch.randn(batch, heads, 32, width, device="cuda", dtype=torch.bfloat16)], 2)
        if token % 64 == 0:
            print(f"[rollout] {token + 32:4d}/2048 tokens")
