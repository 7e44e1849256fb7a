"""LoRA over a long context without gradient checkpointing: attention's activations do not fit.

cause: memory.cuda-oom
also: [data.sequence-too-long]
not: [memory.cuda-fragmentation, memory.gpu-shared, memory.cuda-leak, memory.oom-at-load-or-save]
signature: 'CUDA out of memory'
environment: transformers
runs_as: lora_long.py
needs: [gpu]
kept: []
seconds: 300
"""

import torch
from labkit import pick, seed_everything
from peft import LoraConfig, get_peft_model
from transformers import GPT2Config, GPT2LMHeadModel

seed_everything()
length = pick([32768, 24576, 28672])
model = GPT2LMHeadModel(GPT2Config(n_positions=32768, n_embd=512, n_layer=8, n_head=8, attn_implementation="eager")).cuda()
model = get_peft_model(model, LoraConfig(r=16, lora_alpha=32, target_modules=["c_attn"], lora_dropout=0.05, task_type="CAUSAL_LM"))
model.print_trainable_parameters()
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=2e-4)
for step, n in enumerate([1024, 2048, 4096, length], 1):
    ids = torch.randint(0, 50257, (1, n), device="cuda")
    loss = model(input_ids=ids, labels=ids).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print({"step": step, "seq_len": n, "loss": round(loss.item(), 4), "peak_mem_gb": round(torch.cuda.max_memory_allocated() / 1e9, 2)})
