"""The weight file of the base model is cut off (an interrupted copy): safetensors cannot read it.

cause: checkpoint.corrupt
also: [data.decode]
not: [checkpoint.key-mismatch, checkpoint.shape-mismatch, data.missing-file]
signature: 'SafetensorError: |safetensors_rust.SafetensorError|OSError: .*safetensors'
runs_as: continue_pretraining.py
launch: python continue_pretraining.py
"""

import os
from pathlib import Path

from labkit import pick, seed_everything
from transformers import AutoModelForCausalLM, LlamaConfig, LlamaForCausalLM
from transformers.utils import logging

seed_everything()
logging.disable_progress_bar()
LlamaForCausalLM(LlamaConfig(vocab_size=400, hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=2)).save_pretrained("base-model")
weights = Path("base-model/model.safetensors")
os.truncate(weights, pick([weights.stat().st_size // 2, 0, 5000]))
if pick([False, False, True]):
    weights.write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:4a1c7f2b0d8f2f3a6b0c6f1f0d3e9c55c7d4fb6d0c1d2e3f4a5b6c7d8e9f0a1b\nsize 988097824\n")
logging.enable_progress_bar()
for path in sorted(Path("base-model").iterdir()):
    print(f"{path.stat().st_size:>10}  {path}")
model = AutoModelForCausalLM.from_pretrained("base-model")
print(model.config)
