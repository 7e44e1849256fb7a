"""Loading a model in 8 bit fails in bitsandbytes. With a CPU-only torch there is no GPU to use; with a CUDA build and a card, it is bitsandbytes' own set-up.

cause: cuda.not-available
signature: 'Error:.*(bitsandbytes|GPU|CUDA|backend)'
first_failure: 'CUDA is required but not available'
environment: xtuner
runs_as: qlora.py
dumps:
  - {name: cpu-build, file: cpu-build.env, cause: cuda.not-available, also: [], not: [code.user-exception, config.peft], why: "torch is a +cpu build."}
  - {name: a100, file: a100-bitsandbytes.env, cause: environment.bitsandbytes, also: [], not: [cuda.not-available, code.user-exception], why: "torch sees the card; bitsandbytes does not find its CUDA library."}
"""

import torch
from labkit import pick, seed_everything
from transformers import BitsAndBytesConfig, LlamaConfig, LlamaForCausalLM

seed_everything()
config = LlamaConfig(vocab_size=200, hidden_size=pick([32, 64, 48]), intermediate_size=64, num_hidden_layers=2, num_attention_heads=2)
LlamaForCausalLM(config).save_pretrained("base")
print("loading base in 8 bit")
model = LlamaForCausalLM.from_pretrained("base", quantization_config=BitsAndBytesConfig(load_in_8bit=True), torch_dtype=torch.float16)
print(model.get_memory_footprint())
