"""bitsandbytes falls back to its CPU library, where its optimisers do not exist; the first step fails on a name that was never set.

cause: environment.bitsandbytes
also: [cuda.not-available]
not: [code.user-exception, environment.missing-package, memory.cuda-oom]
signature: "NameError: name 'str2optimizer32bit' is not defined"
environment: extensions
runs_as: finetune.py
launch: python finetune.py
dump_command: python -m torch.utils.collect_env
"""

import torch
from labkit import pick, seed_everything

import bitsandbytes as bnb

seed_everything()
optim = pick([bnb.optim.PagedAdamW, bnb.optim.Adam, bnb.optim.AdamW])
layers = pick([3, 2, 4])
model = torch.nn.Sequential(*[torch.nn.TransformerEncoderLayer(32, 4, 64, batch_first=True) for _ in range(layers)], torch.nn.Linear(32, 2))
print("***** Running training *****")
print(f"  Num layers = {layers}")
print(f"  Trainable parameters = {sum(p.numel() for p in model.parameters())}")
print(f"  Optimizer = {optim.__name__}")
optimizer = optim(model.parameters(), lr=2e-4)
for step in range(20):
    x = torch.randn(8, 10, 32)
    loss = torch.nn.functional.cross_entropy(model(x)[:, 0], (x[:, 0, 0] > 0).long())
    print(f"step {step}: loss {loss.item():.4f}")
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
