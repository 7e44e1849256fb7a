import ctypes

import numpy as np
import torch
from labkit import note, pick, seed_everything
from torch import nn

seed_everything()
bpe = ctypes.CDLL("./libbpe.so")
bpe.bpe_count.restype = ctypes.c_int64
merges = np.ones(128 << 16, dtype=np.int64)
bpe.bpe_load(merges.ctypes.data_as(ctypes.c_void_p))
lines = ["the quick brown fox", "jumps over the lazy dog", "pack my box with five dozen liquor jugs"] * 30
lines[pick([47, 23, 71])] += pick([" \U0001F600", " \U0001D4D0", " \U0001F680 done"])


def count(line):
    codes = np.array([ord(c) for c in line], dtype=np.uint32)
    return bpe.bpe_count(codes.ctypes.data_as(ctypes.c_void_p), ctypes.c_int64(len(codes)))


def features(line):
    return torch.tensor([len(line), line.count("o"), count(line)], dtype=torch.float32) / 40


width = pick([16, 8, 32])
model = nn.Sequential(nn.Linear(3, width), nn.Tanh(), nn.Linear(width, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
print(f"{len(lines)} lines, native tokeniser {bpe._name}")
for step, line in enumerate(lines, 1):
    x = features(line)
    loss = (model(x) - x.sum()).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 4 == 0:
        print(f"step {step} loss {loss.item():.5f}")
        note("loss", step, round(loss.item(), 5))
print("done")
