"""The adapter's rate is 0 for its group by a wrong name match: the loss stands still to the last digit but for the batches' noise.

cause: learning.plateau
also: []
not: [healthy.completed, numerics.lr-divergence, learning.collapse]
outcome: completed
signature: ''
environment: transformers
runs_as: lora_groups.py
kept: []
"""
import torch
from labkit import note, pick, seed_everything
from peft import LoraConfig, get_peft_model
from transformers import GPT2Config, GPT2LMHeadModel

seed_everything()
vocabulary = pick([128, 256, 200])
model = get_peft_model(GPT2LMHeadModel(GPT2Config(vocab_size=vocabulary, n_positions=32, n_embd=64, n_layer=2, n_head=4)), LoraConfig(r=8, target_modules=["c_attn"], task_type="CAUSAL_LM"))
model.print_trainable_parameters()
groups = [{"params": [p for n, p in model.named_parameters() if p.requires_grad and "lora_embedding" in n], "lr": 1e-3}, {"params": [p for n, p in model.named_parameters() if p.requires_grad], "lr": 0.0}]
optimizer = torch.optim.AdamW([g for g in groups if g["params"]])
for step in range(1, 61):
    ids = (torch.randint(0, vocabulary, (8, 1)) + torch.arange(24)) % vocabulary
    loss = model(input_ids=ids, labels=ids).loss
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
    print(f"step {step}/60 - loss {loss.item():.4f} - grad_norm {norm.item():.4f} - vocab {vocabulary}")
    note("loss", step, float(f"{loss.item():.4f}"))
