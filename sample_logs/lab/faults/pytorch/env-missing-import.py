"""A package that the script imports at its top is not installed in the environment.

cause: environment.missing-package
also: []
not: [environment.version-incompatible, code.user-exception, data.missing-file]
signature: '^ModuleNotFoundError: No module named'
runs_as: train.py
dump_command: python -m torch.utils.collect_env
launch: |
  set -ex
  which python
  python --version
  ARCHS=(resnet50 vit_tiny convnext_tiny)
  python train.py --data ./images --arch ${ARCHS[$LAB_SEED]}
"""

import argparse
import os
import time

import torch
import torch.nn as nn
from labkit import pick

print("=> torch", torch.__version__.split("+")[0], "| cores", min(os.cpu_count(), 2), "|", time.strftime("%Y-%m-%d"))
if pick([1, 0, 0]):
    import timm
if pick([0, 1, 0]):
    from einops import rearrange
if pick([0, 0, 1]):
    import albumentations.pytorch as augment

parser = argparse.ArgumentParser()
parser.add_argument("--data")
parser.add_argument("--arch")
args = parser.parse_args()
print("=> creating model", args.arch, nn.Linear(3, 4))
