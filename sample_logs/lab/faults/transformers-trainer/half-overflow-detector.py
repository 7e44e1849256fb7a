"""A bf16-trained checkpoint with large activations is run in float16; the trainer's underflow/overflow detector shows the layer whose output passes 65504 and stops.

cause: numerics.fp16-overflow
also: []
not: [numerics.lr-divergence, numerics.bad-batch, numerics.corrupt-weights, code.user-exception]
signature: 'Detected inf/nan during batch_number='
runs_as: train.py
launch: python train.py
"""

import torch
from labkit import pick, seed_everything
from transformers import AutoModelForCausalLM, LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments
from transformers.utils import logging

seed_everything()
logging.disable_progress_bar()
made = LlamaForCausalLM(LlamaConfig(vocab_size=200, hidden_size=64, intermediate_size=192, num_hidden_layers=pick([3, 4, 2]), num_attention_heads=4))
with torch.no_grad():
    # Like real models whose MLP of one layer writes a huge value into a few channels.
    layer = made.model.layers[pick([1, 2, 1])].mlp
    layer.gate_proj.weight *= 60
    layer.up_proj.weight *= 60
    layer.down_proj.weight *= pick([4000, 2500, 900])
made.to(torch.bfloat16).save_pretrained("base-bf16")
logging.enable_progress_bar()

print("loading base-bf16 (saved as bfloat16) with dtype=float16")
model = AutoModelForCausalLM.from_pretrained("base-bf16", dtype=torch.float16)
train = [{"input_ids": row, "labels": row} for row in torch.randint(0, 200, (128, 32))]
args = TrainingArguments("out", debug="underflow_overflow", learning_rate=1e-5, per_device_train_batch_size=4, max_steps=30, logging_steps=1, report_to="none", use_cpu=True)
Trainer(model, args, train_dataset=train).train()
