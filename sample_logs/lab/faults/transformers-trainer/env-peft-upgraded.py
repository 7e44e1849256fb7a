r"""peft was upgraded beside an old transformers; it imports a cache class that this transformers does not have.

cause: environment.version-incompatible
also: []
not: [environment.missing-package, config.peft, code.user-exception]
signature: 'ImportError: cannot import name ''\w+'' from ''transformers'''
environment: pair-old-transformers
runs_as: finetune_lora.py
launch: python finetune_lora.py
dump_command: python -m torch.utils.collect_env
"""

import importlib.metadata
import logging
import sys

import torch
from labkit import pick, seed_everything

logging.basicConfig(level=logging.INFO, format="%(asctime)s - %(levelname)s - %(name)s - %(message)s", datefmt="%m/%d/%Y %H:%M:%S")
logger = logging.getLogger(__name__)
seed_everything()
for package in pick([("torch", "transformers", "peft", "accelerate"), ("transformers", "peft"), ("torch", "transformers")]):
    logger.info("%s: %s", package, importlib.metadata.version(package))
from transformers import LlamaConfig, LlamaForCausalLM

model = LlamaForCausalLM(LlamaConfig(vocab_size=200, hidden_size=pick([32, 64, 48]), intermediate_size=64, num_hidden_layers=2, num_attention_heads=2))
logger.info("base model: %.2fM parameters, %s", sum(p.numel() for p in model.parameters()) / 1e6, model.dtype)
if pick([True, False, True]):
    from peft import LoraConfig, get_peft_model
else:
    from transformers import Trainer, TrainingArguments
    from peft import LoraConfig, get_peft_model
lora = LoraConfig(r=8, lora_alpha=16, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM")
get_peft_model(model, lora).print_trainable_parameters()
sys.exit(0)
