"""Image features arrive in float32, the language model's projection is bfloat16.

cause: code.dtype-mismatch
also: []
not: [memory.cuda-oom, code.device-mismatch, code.shape-mismatch]
signature: 'must have the same dtype'
runs_as: train_vlm.py
needs: [gpu]
kept: []
seconds: 300
"""

import torch
from labkit import pick, seed_everything

seed_everything()
vision = torch.nn.Linear(588, 256).cuda()
projector = torch.nn.Linear(256, 512).cuda().to(pick([torch.bfloat16, torch.float16, torch.bfloat16]))
print(f"[rank0]: vision tower: {vision.weight.dtype}, projector: {projector.weight.dtype}, tunable: mm_projector", flush=True)
print("[rank0]: ***** Running training *****", flush=True)
for step in range(3):
    patches = torch.randn(2, 576, 588, device="cuda")
    with torch.autocast("cuda", dtype=torch.bfloat16, enabled=step < 2):
        out = projector(vision(patches)).float().pow(2).mean()
    out.backward()
    print(f"[rank0]: step {step} loss {out.item():.4f}", flush=True)
