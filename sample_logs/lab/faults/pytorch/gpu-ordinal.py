"""The script asks for a card that the machine does not have.

cause: distributed.device-count
also: []
not: [cuda.not-available, memory.cuda-oom]
signature: 'invalid device ordinal'
runs_as: train.py
needs: [gpu]
kept: []
seconds: 300
"""

import torch
from labkit import pick, seed_everything

seed_everything()

index = torch.cuda.device_count() + pick([0, 1, 3])
print(f"using cuda:{index}")
model = torch.nn.Linear(8, 8).to(f"cuda:{index}")
