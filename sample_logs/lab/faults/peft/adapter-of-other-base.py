"""An adapter trained on one base model is put on another of a different width.

cause: checkpoint.shape-mismatch
also: [config.peft, checkpoint.key-mismatch]
not: [code.shape-mismatch, checkpoint.corrupt]
signature: 'size mismatch for base_model'
first_failure: '^RuntimeError: '
runs_as: evaluate_adapter.py
launch: python evaluate_adapter.py
environment: transformers
"""

import torch
from labkit import pick, seed_everything
from peft import LoraConfig, PeftConfig, PeftModel, get_peft_model
from transformers import Qwen2Config, Qwen2ForCausalLM
from transformers.utils import logging


def base(width):
    return Qwen2ForCausalLM(Qwen2Config(vocab_size=200, hidden_size=width, intermediate_size=2 * width, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2))


seed_everything()
logging.disable_progress_bar()
small, large = pick([(32, 64), (64, 48), (48, 96)])
get_peft_model(base(small), LoraConfig(task_type="CAUSAL_LM", r=8, target_modules=pick([["q_proj", "v_proj"], ["down_proj"], ["o_proj", "gate_proj"]]))).save_pretrained("adapter-chat")
base(large).save_pretrained("base-model")

print(PeftConfig.from_pretrained("adapter-chat"))
model = Qwen2ForCausalLM.from_pretrained("base-model")
print(f"base model: hidden size {model.config.hidden_size}, {model.num_parameters():,} parameters")
model = PeftModel.from_pretrained(model, "adapter-chat")
with torch.no_grad():
    print(model(torch.arange(10)[None]).logits.argmax(-1))
