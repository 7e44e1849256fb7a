"""A trl of the transformers 4.3x days beside transformers 5: it imports helpers that were removed.

cause: environment.version-incompatible
also: []
not: [environment.missing-package, config.rl, code.user-exception]
signature: 'ImportError: cannot import name ''top_k_top_p_filtering'' from ''transformers'''
environment: pair-new-transformers
runs_as: ppo.py
launch: python ppo.py
dump_command: python -m torch.utils.collect_env
"""

import torch
import transformers
from labkit import note, pick, seed_everything
from transformers import GPT2Config, GPT2LMHeadModel

seed_everything()
print("transformers:", transformers.__version__)
model = GPT2LMHeadModel(GPT2Config(vocab_size=100, n_embd=32, n_layer=2, n_head=2, n_positions=32))
optimizer = torch.optim.AdamW(model.parameters(), lr=pick([1e-3, 5e-4, 2e-3]))
print("stage 1: supervised")
for step in range(1, pick([11, 6, 16])):
    ids = torch.randint(0, 100, (4, 16))
    loss = model(input_ids=ids, labels=ids).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(f"sft step {step} loss {loss.item():.4f}")
    note("loss", step, round(loss.item(), 4))
print("stage 2: ppo")
if pick([True, True, False]):
    from trl import AutoModelForCausalLMWithValueHead, PPOConfig, PPOTrainer
else:
    import trl.trainer.ppo_trainer as ppo
policy = AutoModelForCausalLMWithValueHead(model)
trainer = PPOTrainer(PPOConfig(batch_size=4), policy)
