"""The last of the compressed shards was cut while it was copied: gzip meets the end of the file before the end of the stream.

cause: data.decode
also: [io.storage]
not: [data.missing-file, data.exhausted, data.empty, checkpoint.corrupt]
signature: '(EOFError: Compressed file ended before the end-of-stream marker|zlib.error: Error -3|BadGzipFile: )'
runs_as: pretrain.py
"""

import gzip
import os
import random
import struct
import time

import torch
from labkit import SEED, note, pick, seed_everything


def pack(shard, count):
    path = f"shards/tokens-{shard:05d}.bin.gz"
    os.makedirs("shards", exist_ok=True)
    draw = random.Random(shard)
    with gzip.GzipFile(path, "wb", mtime=0) as sink:
        for _ in range(count):
            start = draw.randrange(50)
            sink.write(struct.pack("<33H", *((start + step * draw.choice((1, 1, 2))) % 50 for step in range(33))))
    return path


def damage(path):
    data = bytearray(open(path, "rb").read())
    half = len(data) // 2
    if SEED == 1:
        data[half:half + 64] = bytes(64)
    elif SEED == 2:
        data[:2] = b"\0\0"
    open(path, "wb").write(data[:half] if SEED == 0 else data)


class Shards(torch.utils.data.IterableDataset):
    def __init__(self, folder):
        self.paths = sorted(os.path.join(folder, name) for name in os.listdir(folder))

    def __iter__(self):
        for path in self.paths:
            print(f"opening {path}", flush=True)
            with gzip.open(path) as source:
                rows = torch.frombuffer(bytearray(source.read()), dtype=torch.int16)
            yield from rows.long().view(-1, 33)


seed_everything()
for shard in range(3):
    pack(shard, 320)
damage(pack(3, 320))
loader = torch.utils.data.DataLoader(Shards("shards"), batch_size=16)
model = torch.nn.Sequential(torch.nn.Embedding(50, 32), torch.nn.Linear(32, 64), torch.nn.GELU(), torch.nn.Linear(64, 50))
optimizer = torch.optim.AdamW(model.parameters(), lr=pick([3e-3, 1e-3, 5e-3]))
tokens, started = 0, time.perf_counter()
for step, batch in enumerate(loader, 1):
    loss = torch.nn.functional.cross_entropy(model(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    tokens += batch.numel()
    if step % 4 == 0:
        print(f"step: {step:6d} | loss: {loss.item():.6f} | tokens: {tokens:,} | tok/s: {tokens / (time.perf_counter() - started):,.0f}")
        note("loss", step, float(f"{loss.item():.6f}"))
