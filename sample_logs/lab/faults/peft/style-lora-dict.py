"""LoRA printed as dictionaries on a CPU; the loss falls, the adapter is saved.

cause: healthy.completed
also: [healthy.running]
not: [learning.plateau, config.peft, numerics.loss-spike]
outcome: completed
signature: ''
environment: transformers
step_basis: ordinal
runs_as: lora.py
kept: []
"""
import time
import torch
from labkit import note, pick, seed_everything
from peft import LoraConfig, get_peft_model
from transformers import GPT2Config, GPT2LMHeadModel

seed_everything()
model = get_peft_model(GPT2LMHeadModel(GPT2Config(vocab_size=128, n_positions=32, n_embd=64, n_layer=2, n_head=4)), LoraConfig(r=16, lora_alpha=64, target_modules=["c_attn", "c_proj", "c_fc"], modules_to_save=["lm_head", "wte"], task_type="CAUSAL_LM"))
model.print_trainable_parameters()
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=pick([5e-3, 3e-3, 4e-3]))
start = time.time()
for step in range(1, 101):
    ids = (torch.randint(0, 128, (8, 1)) + torch.arange(24)) % 128
    loss = model(input_ids=ids, labels=ids).loss
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
    if step % 4 == 0:
        print({"loss": round(loss.item(), 4), "grad_norm": round(norm.item(), 4), "learning_rate": optimizer.param_groups[0]["lr"], "epoch": round(step / 100, 2)})
        note("loss", step, round(loss.item(), 4))
print({"train_runtime": round(time.time() - start, 4), "train_steps_per_second": round(100 / (time.time() - start), 3), "epoch": 1.0})
model.save_pretrained("lora-out")
