"""torch.compile with reduce-overhead: an output of one replay is kept and used after the next one has overwritten it.

cause: code.torch-compile
also: [code.user-exception, code.autograd-inplace]
not: [memory.cuda-oom, cuda.illegal-memory-access]
signature: 'accessing tensor output of CUDAGraphs that has been overwritten'
runs_as: contrastive.py
needs: [gpu]
kept: []
seconds: 300
"""

import torch
from labkit import pick, seed_everything

seed_everything()
torch.set_float32_matmul_precision("high")


@torch.compile(mode="reduce-overhead")
def encode(weight, x):
    return torch.nn.functional.normalize(torch.tanh(x @ weight), dim=-1)


weight = torch.randn(256, pick([128, 96, 64]), device="cuda")
with torch.no_grad():
    for step in range(8):
        a = encode(weight, torch.randn(64, 256, device="cuda"))
        b = encode(weight, torch.randn(64, 256, device="cuda"))
        print(f"step {step}: alignment {(a * b).sum(-1).mean().item():.4f}")
