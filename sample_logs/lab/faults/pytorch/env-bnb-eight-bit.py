"""An 8-bit optimiser of bitsandbytes with a CPU-only torch: bitsandbytes warns at import and fails at the first step.

cause: cuda.not-available
also: [environment.bitsandbytes]
not: [environment.missing-package, memory.cuda-oom, code.device-mismatch]
signature: 'AssertionError: Torch not compiled with CUDA enabled'
environment: extensions
runs_as: train_lm.py
launch: python -W default train_lm.py --optim 8bit
"""

import sys

import torch
import torch.nn as nn
from labkit import pick, seed_everything

seed_everything()
print("command line:", " ".join(sys.argv))
print("torch.version.cuda:", torch.version.cuda)
import bitsandbytes

width = pick([64, 128, 96])
net = nn.ModuleDict({"embed": nn.Embedding(300, width), "rnn": nn.GRU(width, width, batch_first=True), "head": nn.Linear(width, 300)})
make = {"lion": bitsandbytes.optim.Lion8bit, "sgd": lambda p, lr: bitsandbytes.optim.SGD8bit(p, lr=lr, momentum=0.9), "adamw": bitsandbytes.optim.AdamW8bit}[pick(["adamw", "lion", "sgd"])]
optimizer = make(net.parameters(), lr=1e-3)
print(optimizer)
for batch in range(10):
    ids = torch.randint(0, 300, (16, 24))
    hidden, _ = net["rnn"](net["embed"](ids[:, :-1]))
    loss = nn.functional.cross_entropy(net["head"](hidden).flatten(0, 1), ids[:, 1:].flatten())
    loss.backward()
    print(f"batch {batch}, loss {loss:.3f}")
    optimizer.step()
    optimizer.zero_grad()
