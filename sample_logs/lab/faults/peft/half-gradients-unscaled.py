"""The base model is loaded in float16, the adapter follows its type, and a GradScaler is used on top: it refuses to unscale fp16 gradients.

cause: numerics.unscale-fp16-gradients
also: [config.peft]
not: [numerics.fp16-overflow, numerics.loss-scale-exhausted, code.dtype-mismatch]
signature: 'ValueError: Attempting to unscale FP16 gradients'
runs_as: train_amp.py
launch: python train_amp.py
environment: transformers
"""

import torch
from labkit import pick, seed_everything
from peft import LoraConfig, get_peft_model
from tqdm import tqdm
from transformers import LlamaConfig, LlamaForCausalLM

seed_everything()
device = "cuda" if torch.cuda.is_available() else "cpu"
config = LlamaConfig(vocab_size=200, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2)
model = LlamaForCausalLM(config).to(device, torch.float16)
model = get_peft_model(model, LoraConfig(task_type="CAUSAL_LM", r=pick([8, 16, 4]), target_modules=["q_proj", "k_proj", "v_proj"]), autocast_adapter_dtype=False)
model.print_trainable_parameters()
print("parameter types:", sorted({str(p.dtype) for p in model.parameters()}), "trainable:", sorted({str(p.dtype) for p in model.parameters() if p.requires_grad}))
scaler = torch.amp.GradScaler(device)
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=pick([1e-4, 2e-4, 5e-5]))
bar = tqdm(range(100), desc="training")
for step in bar:
    tokens = torch.randint(0, 200, (pick([4, 2, 8]), 24), device=device)
    with torch.autocast(device, dtype=torch.float16):
        loss = model(input_ids=tokens, labels=tokens).loss
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad()
    bar.set_postfix(loss=loss.item())
