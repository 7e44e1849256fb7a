"""LoRA is asked for modules that the architecture does not have (names of another model family).

cause: config.peft
also: [config.trainer]
not: [checkpoint.key-mismatch, environment.version-incompatible, data.schema]
signature: 'Target modules .* not found in the base model'
runs_as: lora_finetune.py
launch: python lora_finetune.py
environment: transformers
"""

import logging

from labkit import pick, seed_everything
from peft import LoraConfig, TaskType, get_peft_model
from transformers import GPT2Config, GPT2LMHeadModel, GPTNeoXConfig, GPTNeoXForCausalLM

logging.basicConfig(level=logging.INFO, format="%(asctime)s | %(levelname)s | %(message)s")
seed_everything()
if pick([True, False, True]):
    model = GPT2LMHeadModel(GPT2Config(vocab_size=300, n_embd=48, n_layer=2, n_head=4))
else:
    model = GPTNeoXForCausalLM(GPTNeoXConfig(vocab_size=300, hidden_size=48, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96))
logging.info("base model %s with %.2f M parameters", type(model).__name__, model.num_parameters() / 1e6)
lora = LoraConfig(r=pick([8, 16, 64]), lora_alpha=16, lora_dropout=0.05, target_modules=pick([["q_proj", "v_proj"], ["query", "value"], ["gate_proj", "up_proj", "down_proj"]]), task_type=TaskType.CAUSAL_LM)
logging.info("lora config: r=%d alpha=%d target_modules=%s", lora.r, lora.lora_alpha, sorted(lora.target_modules))
model = get_peft_model(model, lora)
model.print_trainable_parameters()
