"""A Triton kernel without a mask writes far behind its tensor.

cause: cuda.illegal-memory-access
also: []
not: [memory.cuda-oom, cuda.device-side-assert]
signature: 'illegal memory access'
runs_as: kernels.py
needs: [gpu]
kept: []
seconds: 300
"""

import torch
import triton
import triton.language as tl
from labkit import pick, seed_everything

seed_everything()


@triton.jit
def scale(pointer, stride, factor, block: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * stride + tl.arange(0, block)
    tl.store(pointer + offsets, tl.load(pointer + offsets) * factor)


values = torch.randn(4096, device="cuda")
for step in range(5):
    scale[(4,)](values, 1024, 1.01, block=1024)
    print(f"step {step} norm {values.norm().item():.3f}")
scale[(pick([64, 128, 256]),)](values, 1 << 34, 1.01, block=1024)
print(values.norm().item())
