"""Training is to go on from a saved adapter, but PeftModel.from_pretrained loads it for inference (is_trainable is not set): nothing requires a gradient.

cause: code.autograd-no-grad
also: [config.peft]
not: [config.checkpointing-conflict, checkpoint.key-mismatch, learning.plateau]
signature: 'RuntimeError: element 0 of tensors does not require grad'
step_basis: ordinal
runs_as: continue_lora.py
launch: python continue_lora.py
environment: transformers
"""

import torch
from labkit import pick, seed_everything, trainer_notes
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import MistralConfig, MistralForCausalLM, Trainer, TrainingArguments

seed_everything()
config = MistralConfig(vocab_size=200, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2)
MistralForCausalLM(config).save_pretrained("base")
train = [{"input_ids": row, "labels": row} for row in (torch.randint(0, 200, (160, 1)) + torch.arange(16)) % 200]


def fit(model, folder):
    model.print_trainable_parameters()
    args = TrainingArguments(folder, max_steps=pick([20, 10, 30]), per_device_train_batch_size=8, learning_rate=pick([1e-3, 2e-3, 5e-4]), logging_steps=5, report_to="none", use_cpu=True, save_strategy="no", disable_tqdm=pick([True, False, True]))
    Trainer(model, args, train_dataset=train, callbacks=[trainer_notes()]).train()
    return model


print("stage 1: new adapter")
fit(get_peft_model(MistralForCausalLM.from_pretrained("base"), LoraConfig(task_type="CAUSAL_LM", r=8, target_modules=["q_proj", "v_proj"])), "stage1").save_pretrained("adapter-1")
print("stage 2: continue with adapter-1")
fit(PeftModel.from_pretrained(MistralForCausalLM.from_pretrained("base"), "adapter-1"), "stage2").save_pretrained("adapter-2")
