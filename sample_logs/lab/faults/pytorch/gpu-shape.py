"""Matrix sizes do not fit in the head, seen on the card under autocast.

cause: code.shape-mismatch
also: []
not: [cuda.cublas, memory.cuda-oom]
signature: 'mat1 and mat2 shapes cannot be multiplied'
runs_as: train.py
needs: [gpu]
kept: []
seconds: 300
"""

import torch
from labkit import pick, seed_everything

seed_everything()
print("INFO 2026-06-14 12:00:01 trainer.py:41] backbone=convnext_nano img_size=256 pool=none")
body = torch.nn.Conv2d(3, 16, 4, 4).cuda()
head = torch.nn.Linear(16 * 56 * 56, pick([10, 100, 37])).cuda()
with torch.autocast("cuda", torch.bfloat16):
    print(head(body(torch.randn(2, 3, 256, 256, device="cuda")).flatten(1)).shape)
