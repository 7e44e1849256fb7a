"""Prompt tuning from a text without the tokenizer that has to encode it (or with an impossible rank or task type): PEFT refuses the configuration.

cause: config.peft
also: [config.trainer, code.user-exception]
not: [config.tokenizer, environment.version-incompatible]
signature: '^ValueError: '
runs_as: tune_prompt.py
launch: python tune_prompt.py
environment: transformers
"""

import torch
from labkit import pick, seed_everything
from peft import LoraConfig, PromptTuningConfig, PromptTuningInit, get_peft_model
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments

seed_everything()
settings = pick([
    dict(kind="prompt", task_type="CAUSAL_LM", prompt_tuning_init=PromptTuningInit.TEXT, prompt_tuning_init_text="Classify if the text is a complaint or not:", num_virtual_tokens=8),
    dict(kind="lora", task_type="CAUSAL", r=8, target_modules=["q_proj", "v_proj"]),
    dict(kind="lora", task_type="CAUSAL_LM", r=0, lora_alpha=16, target_modules=["q_proj", "v_proj"]),
])
print("adapter settings:")
for key, value in settings.items():
    print(f"  {key:<26}{value}")
model = LlamaForCausalLM(LlamaConfig(vocab_size=200, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2))
kind = settings.pop("kind")
model = get_peft_model(model, (PromptTuningConfig if kind == "prompt" else LoraConfig)(**settings))
model.print_trainable_parameters()
train = [{"input_ids": row, "labels": row} for row in torch.randint(0, 200, (64, 16))]
Trainer(model, TrainingArguments("tuned", max_steps=20, report_to="none", use_cpu=True), train_dataset=train).train()
