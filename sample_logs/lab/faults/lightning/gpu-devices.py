"""Lightning is asked for four GPUs where there is one.

cause: distributed.device-count
also: [config.trainer]
not: [cuda.not-available, memory.cuda-oom]
signature: 'requested gpu'
runs_as: fit.py
needs: [gpu]
kept: []
seconds: 300
"""

import lightning as L
from labkit import pick

trainer = L.Trainer(accelerator="gpu", devices=pick([4, 2, 8]), strategy="ddp", logger=False)
