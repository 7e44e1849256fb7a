"""A checkpoint in torch's old (not zip) format is cut short or empty: unpickling reaches the end of the file.

cause: checkpoint.corrupt
also: []
not: [data.missing-file, data.exhausted, checkpoint.unsafe-load, data.empty]
signature: '^(EOFError|RuntimeError: unexpected EOF)'
runs_as: finetune.py
launch: |
  python - << 'END'
  import os
  import torch
  torch.manual_seed(0)
  model = torch.nn.Sequential(torch.nn.Embedding(500, 64), torch.nn.Linear(64, 64), torch.nn.Linear(64, 500))
  torch.save(model.state_dict(), "base.bin", _use_new_zipfile_serialization=False)
  keep = [0.7, 0.0, 0.97][int(os.environ["LAB_SEED"]) % 3]
  os.truncate("base.bin", int(os.path.getsize("base.bin") * keep))
  END
  python finetune.py --init base.bin
"""

import sys

import torch
from labkit import pick, seed_everything

seed_everything()
path = sys.argv[sys.argv.index("--init") + 1]
model = torch.nn.Sequential(torch.nn.Embedding(500, 64), torch.nn.Linear(64, 64), torch.nn.Linear(64, 500))
settings = dict(init=path, steps=pick([200, 500, 1000]), warmup=pick([20, 50, 100]), lr=pick([1e-4, 3e-4, 2e-5]), batch=16, context=32)
for name, value in settings.items():
    print(f"  --{name:<8} {value}")
print("Loading initial weights ...", end=" ", flush=True)
weights = torch.load(path, map_location=torch.device("cpu"))
print("done,", len(weights), "tensors")
model.load_state_dict(weights)
optimizer = torch.optim.AdamW(model.parameters(), lr=settings["lr"])
for step in range(settings["steps"]):
    ids = torch.randint(0, 500, (16, 32))
    loss = torch.nn.functional.cross_entropy(model(ids).flatten(0, 1), ids.flatten())
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(step, loss.item())
