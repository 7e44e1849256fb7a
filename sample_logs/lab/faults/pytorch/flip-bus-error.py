"""The training dies of a bus error and says nothing else. With a full /dev/shm of 64 MB that is shared memory; with 252 GB, nearly empty, it is not.

cause: memory.shm-exhausted
signature: 'Bus error'
runs_as: pretrain.py
launch: |
  python pretrain.py
dumps:
  - {name: small-shm, file: a100-shm-64m.env, cause: memory.shm-exhausted, also: [], not: [code.native-crash, memory.cuda-oom], why: "/dev/shm has 64 MB and is full."}
  - {name: large-shm, file: a100-shm-252g.env, cause: code.native-crash, also: [data.worker-crash, io.storage], not: [memory.shm-exhausted, memory.cuda-oom], why: "/dev/shm is nearly empty."}
note: the bus error is real; it comes from a memory-mapped file that was cut under the program, which the log does not show.
"""

import mmap
import os

import torch
from labkit import note, pick, seed_everything

seed_everything()
with open("shard.bin", "wb") as sink:
    sink.write(os.urandom(1 << 20))
handle = open("shard.bin", "r+b")
view = mmap.mmap(handle.fileno(), 0)
model = torch.nn.Linear(16, 4)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(1, 100):
    raw = torch.frombuffer(bytearray(view[step * 4096:step * 4096 + 128]), dtype=torch.uint8).reshape(8, 16).float() / 255
    loss = model(raw).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.5f}")
    note("loss", step, float(f"{loss.item():.5f}"))
    if step == pick([23, 31, 40]):
        os.truncate("shard.bin", 4096)
