import datetime as dt
import json
import os
import pickle
import sys
import time
import traceback

import numpy as np
import torch
from labkit import pick, seed_everything

rank = int(os.environ["RANK"])
FORMAT = pick(["pickle", "json", "pickle"])
PATH = pick(["vocab.pkl", "offsets.json", "samples.pkl"])


def say(text):
    for line in text.rstrip().splitlines():
        print(f"{dt.datetime.now().strftime('%H:%M:%S.%f')} rank{rank} {line}", flush=True)


def build():
    say(f"building {PATH}, other ranks will read it")
    values = {f"document-{i:05d}": np.random.randint(0, 1000, 8).tolist() for i in range(4000)}
    data = pickle.dumps(values) if FORMAT == "pickle" else json.dumps(values).encode()
    with open(PATH, "wb", buffering=0) as sink:
        for start in range(0, len(data), len(data) // 12):
            sink.write(data[start:start + len(data) // 12])
            say(f"{PATH}: {sink.tell()} of {len(data)} bytes")
            time.sleep(1.0)
    say(f"{PATH} finished")
    return values


def load():
    say(f"{PATH} exists ({os.path.getsize(PATH)} bytes), loading")
    with open(PATH, "rb") as source:
        return pickle.load(source) if FORMAT == "pickle" else json.load(source)


seed_everything()
say(f"start, torch {torch.__version__.split('+')[0]}")
try:
    values = load() if os.path.exists(PATH) else build()
except Exception:
    say(traceback.format_exc())
    sys.exit(1)
table = torch.nn.Embedding(1000, 4)
optimizer = torch.optim.SGD(table.parameters(), 0.1)
for step, ids in enumerate(list(values.values())[:5], 1):
    loss = table(torch.tensor(ids)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    say(f"step {step} loss {loss.item():.4f}")
say("finished")
