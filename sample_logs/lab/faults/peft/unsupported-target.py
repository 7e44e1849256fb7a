"""The adapter's target names match whole blocks or norms, which LoRA cannot wrap.

cause: config.peft
also: [code.user-exception]
not: [checkpoint.key-mismatch, environment.version-incompatible]
signature: 'ValueError: Target module '
runs_as: train_adapter.py
launch: python train_adapter.py
environment: transformers
"""

from labkit import pick, seed_everything
from peft import LoraConfig, get_peft_model
from transformers import ViTConfig, ViTForImageClassification

seed_everything()
model = ViTForImageClassification(ViTConfig(hidden_size=48, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96, image_size=32, patch_size=8, num_labels=5))
names = sorted({type(module).__name__ for module in model.modules()})
print(f"{model.num_parameters():,} parameters; module classes: {', '.join(names)}")
targets = pick([["attention"], ["layernorm_before", "layernorm_after"], ["mlp", "attention"]])
print("lora targets:", targets)
config = LoraConfig(r=pick([4, 8, 2]), lora_alpha=8, target_modules=targets, modules_to_save=["classifier"])
model = get_peft_model(model, config)
model.print_trainable_parameters()
