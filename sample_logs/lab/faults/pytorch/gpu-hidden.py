"""CUDA_VISIBLE_DEVICES is empty in the job's environment.

cause: cuda.not-available
also: []
not: [cuda.driver-too-old, memory.cuda-oom]
signature: 'No CUDA GPUs are available'
variables: {CUDA_VISIBLE_DEVICES: ''}
runs_as: train.py
launch: |
  echo "CUDA_VISIBLE_DEVICES=[$CUDA_VISIBLE_DEVICES]"
  python train.py
needs: [gpu]
kept: []
seconds: 300
"""

import torch
from labkit import pick, seed_everything

seed_everything()
print(f"torch {torch.__version__} (CUDA {torch.version.cuda}), available: {torch.cuda.is_available()}, devices: {torch.cuda.device_count()}")
model = torch.nn.Linear(pick([8, 16, 32]), 8).to("cuda")
