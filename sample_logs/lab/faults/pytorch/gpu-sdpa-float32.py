"""Only the flash kernel is allowed for attention, and the inputs are float32: no kernel is left.

cause: code.dtype-mismatch
also: [cuda.insufficient-precision-support, code.user-exception]
not: [memory.cuda-oom, cuda.no-kernel-image, environment.missing-package]
signature: 'No available kernel'
runs_as: vit.py
needs: [gpu]
kept: []
seconds: 300
"""

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from labkit import pick, seed_everything

seed_everything()
heads = pick([8, 12, 16])
q, k, v = (torch.randn(4, heads, 197, 64, device="cuda") for _ in range(3))
print(f"attention: heads={heads} dim=64 dtype={q.dtype} backend=flash")
with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
    out = F.scaled_dot_product_attention(q, k, v)
print(out.shape)
