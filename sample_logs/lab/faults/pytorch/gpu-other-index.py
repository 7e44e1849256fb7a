"""CUDA_VISIBLE_DEVICES names a card that this node does not have.

cause: cuda.not-available
also: [distributed.device-count]
not: [cuda.driver-too-old, memory.cuda-oom]
signature: 'No CUDA GPUs are available'
runs_as: train.py
launch: |
  set -x
  export CUDA_VISIBLE_DEVICES=$((LAB_SEED + 3))
  nvidia-smi -L
  python train.py
needs: [gpu]
kept: []
seconds: 300
"""

import torch
from labkit import seed_everything

seed_everything()
torch.cuda.init()
print(torch.cuda.get_device_name())
