"""A base model in 4 bits with a LoRA adapter kept in float16 (no prepare_model_for_kbit_training, compute type float16): Adam's epsilon vanishes in fp16 and the first update makes the adapter NaN.

cause: numerics.quantized-adapter-precision
also: [numerics.fp16-overflow, numerics.nonfinite-unknown]
not: [numerics.labels-all-masked, numerics.corrupt-weights, healthy.completed, learning.collapse]
signature: "'grad_norm': 'nan'"
step_basis: ordinal
runs_as: qlora.py
launch: python qlora.py
environment: transformers-bnb
"""

import torch
from labkit import pick, seed_everything, trainer_notes
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, BitsAndBytesConfig, LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments
from transformers.utils import logging

seed_everything()
logging.disable_progress_bar()
LlamaForCausalLM(LlamaConfig(vocab_size=200, hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4)).save_pretrained("base")
logging.enable_progress_bar()
quantization = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type=pick(["nf4", "fp4", "nf4"]), bnb_4bit_compute_dtype=torch.float16, bnb_4bit_use_double_quant=pick([True, False, False]))
print(quantization)
model = AutoModelForCausalLM.from_pretrained("base", quantization_config=quantization, dtype=torch.float16, device_map="cpu")
model = get_peft_model(model, LoraConfig(task_type="CAUSAL_LM", r=pick([8, 16, 4]), lora_alpha=16, target_modules=["q_proj", "v_proj", "up_proj"]), autocast_adapter_dtype=False)
model.print_trainable_parameters()
print("trainable weights:", sorted({str(p.dtype) for p in model.parameters() if p.requires_grad}), "| base weights:", sorted({str(p.dtype) for p in model.parameters() if not p.requires_grad}))
train = [{"input_ids": row, "labels": row} for row in (torch.randint(0, 200, (240, 1)) + torch.arange(16) * 3) % 200]
args = TrainingArguments("qlora", optim="adamw_torch", learning_rate=pick([2e-4, 1e-4, 5e-4]), per_device_train_batch_size=8, max_steps=30, logging_steps=pick([1, 2, 3]), report_to="none", use_cpu=True, save_strategy="no", disable_tqdm=pick([False, True, True]))
Trainer(model, args, train_dataset=train, callbacks=[trainer_notes()]).train()
