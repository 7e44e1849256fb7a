"""An option asks for a package that is not installed (flash-attn, wandb, deepspeed); transformers says so itself, without a ModuleNotFoundError.

cause: environment.missing-package
also: [config.trainer]
not: [environment.version-incompatible, config.tracker, config.deepspeed, code.user-exception]
signature: '(ImportError|RuntimeError): .*(not installed|to be installed|not available|pip3? install)'
runs_as: sft.py
launch: python sft.py
"""

import torch
from labkit import pick, seed_everything
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments

seed_everything()
option = pick([{"attn": "flash_attention_2"}, {"report_to": "wandb"}, {"optim": "adamw_bnb_8bit"}])
print("options:", option)
config = LlamaConfig(vocab_size=128, hidden_size=64, intermediate_size=96, num_hidden_layers=2, num_attention_heads=4)
if "attn" in option:
    model = LlamaForCausalLM._from_config(config, attn_implementation=option["attn"], dtype=torch.bfloat16)
else:
    model = LlamaForCausalLM(config)
print(model)
rows = [{"input_ids": ids, "labels": ids} for ids in torch.randint(0, 128, (64, 16))]
arguments = TrainingArguments("sft", max_steps=20, logging_steps=2, use_cpu=True, report_to=option.get("report_to", "none"), optim=option.get("optim", "adamw_torch"))
trainer = Trainer(model, arguments, train_dataset=rows)
trainer.train()
