"""A script asks for FlashAttention 2 (or a 4-bit load) without the package that provides it.

cause: environment.missing-package
also: [environment.bitsandbytes, cuda.insufficient-precision-support]
not: [environment.version-incompatible, io.hub-access, config.trainer]
signature: 'ImportError: |PackageNotFoundError'
runs_as: load_model.py
launch: python load_model.py
"""

import torch
from labkit import pick, seed_everything
from transformers import AutoModelForCausalLM, BitsAndBytesConfig, LlamaConfig, LlamaForCausalLM
from transformers.utils import logging

seed_everything()
logging.disable_progress_bar()
LlamaForCausalLM(LlamaConfig(vocab_size=100, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2)).save_pretrained("model")
logging.enable_progress_bar()
options = pick([{"attn_implementation": "flash_attention_2", "dtype": torch.bfloat16}, {"quantization_config": BitsAndBytesConfig(load_in_4bit=True)}, {"attn_implementation": "flash_attention_2"}])
print("loading with", options)
model = AutoModelForCausalLM.from_pretrained("model", **options)
print(model)
