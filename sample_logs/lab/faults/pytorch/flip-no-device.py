r"""The program finds no CUDA device and stops. A CPU-only torch and a driver that is too old for torch's CUDA look the same from inside; the dump tells.

cause: cuda.not-available
signature: 'no usable CUDA device'
first_failure: 'is_available\(\): False'
runs_as: main.py
dumps:
  - {name: cpu-build, file: cpu-build.env, cause: cuda.not-available, also: [], not: [cuda.driver-too-old, code.user-exception], why: "torch is a +cpu build."}
  - {name: old-driver, file: a100-old-driver.env, cause: cuda.driver-too-old, also: [], not: [code.user-exception, config.arguments], why: "Driver 450 is older than CUDA 12.1 needs (525)."}
"""

import sys

import torch
from labkit import pick

print(f"torch.cuda.is_available(): {torch.cuda.is_available()}")
print(f"torch.cuda.device_count(): {torch.cuda.device_count()}")
if not torch.cuda.is_available():
    sys.exit(f"error: no usable CUDA device; the recipe {pick(['llama-7b-lora', 'vit-large', 'sdxl-unet'])} needs one")
