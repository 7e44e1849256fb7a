"""A weights file was copied with less than its length (or an empty one was left by a failed job); safetensors refuses it.

cause: checkpoint.corrupt
also: []
not: [checkpoint.key-mismatch, data.missing-file, io.disk-full]
signature: 'SafetensorError'
runs_as: merge.py
launch: python merge.py
"""

import os

import torch
from labkit import pick, seed_everything
from safetensors.torch import load_file, save_file

seed_everything()
os.makedirs("adapters", exist_ok=True)
for name in ("en", "de", "fr"):
    save_file({f"layers.{i}.lora_A": torch.randn(8, 64) for i in range(pick([4, 6, 2]))}, f"adapters/{name}.safetensors")
os.truncate("adapters/de.safetensors", int(os.path.getsize("adapters/de.safetensors") * pick([0.8, 0.0, 0.3])))
total = None
for name in ("en", "de", "fr"):
    path = f"adapters/{name}.safetensors"
    print(f"merging {path} ({os.path.getsize(path)} bytes)")
    state = load_file(path)
    total = state if total is None else {key: total[key] + value for key, value in state.items()}
print("merged", len(total), "tensors")
