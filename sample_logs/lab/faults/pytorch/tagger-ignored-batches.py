"""A tagger whose long sentences are cut before their first entity: batches without one label give a NaN loss now and then, the batches between them train well.

cause: numerics.labels-all-masked
also: [numerics.bad-batch, numerics.nonfinite-unknown]
not: [numerics.lr-divergence, numerics.fp16-overflow, numerics.corrupt-weights, learning.plateau]
signature: '"loss": NaN'
runs_as: train_tagger.py
"""

import json
import sys
import time

import torch
from labkit import note, pick, seed_everything
from torch import nn

seed_everything()
LIMIT, CLASSES = pick([24, 32, 20]), 7
SHARE = pick([0.4, 0.35, 0.45])


def sentence():
    """Tokens and labels; only the entities at the end are labelled, everything else is ignored."""
    length = 2 * LIMIT if torch.rand(1).item() < SHARE else LIMIT - 4
    tokens = torch.randint(8, 200, (length,))
    labels = torch.full((length,), -100)
    labels[-5:] = tokens[-5:] % CLASSES
    return tokens[:LIMIT], labels[:LIMIT]


rows = [sentence() for _ in range(600)]
print(json.dumps({"event": "start", "sentences": len(rows), "max_length": LIMIT, "truncated": sum(len(t) == LIMIT for t, _ in rows), "classes": CLASSES}))
model = nn.Sequential(nn.Embedding(200, 32), nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, CLASSES))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
started = time.time()
for step in range(1, 151):
    chosen = [rows[i] for i in torch.randint(0, len(rows), (2,)).tolist()]
    tokens = nn.utils.rnn.pad_sequence([t for t, _ in chosen], batch_first=True)
    labels = nn.utils.rnn.pad_sequence([v for _, v in chosen], batch_first=True, padding_value=-100)
    loss = nn.functional.cross_entropy(model(tokens).transpose(1, 2), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 2 == 0:
        record = {"step": step, "loss": round(loss.item(), 4), "labelled": int((labels != -100).sum()), "tokens": tokens.numel(), "lr": 3e-3, "elapsed": round(time.time() - started, 2)}
        print(json.dumps(record))
        sys.stdout.flush()
        note("loss", step, record["loss"])
        note("learning_rate", step, 3e-3)
print(json.dumps({"event": "end", "steps": step}))
