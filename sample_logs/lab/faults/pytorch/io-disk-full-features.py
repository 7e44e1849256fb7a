r"""Features are extracted to a scratch disk that fills up: the plain writes (JSON lines, pickle) fail with no space left.

cause: io.disk-full
also: []
not: [io.permission, checkpoint.save-failed, memory.host-oom, data.decode]
signature: 'OSError: \[Errno 28\] No space left on device'
runs_as: extract_features.py
launch: |
  mkdir -p data/cache
  unshare -m bash -c 'mount -t tmpfs -o size=1m tmpfs data/cache && exec python extract_features.py'
needs: [tmpfs]
"""

import json
import logging
import pickle

import torch
from labkit import pick, seed_everything
from torch import nn

logging.basicConfig(level=logging.INFO, format="%(asctime)s,%(msecs)03d %(levelname)-5s [%(filename)s:%(lineno)d] %(message)s", datefmt="%Y-%m-%d %H:%M:%S")
seed_everything()
encoder = nn.Sequential(nn.Conv2d(1, 8, 3, stride=2), nn.ReLU(), nn.Conv2d(8, pick([16, 32, 8]), 3, stride=2), nn.Flatten()).eval()
logging.info("encoder: %d parameters", sum(p.numel() for p in encoder.parameters()))


def write(sink, index, vectors):
    if pick(["json", "pickle", "json"]) == "json":
        for vector in vectors.tolist():
            sink.write((json.dumps({"batch": index, "vector": [round(v, 4) for v in vector]}) + "\n").encode())
    else:
        pickle.dump({"batch": index, "vectors": vectors.numpy()}, sink)
    sink.flush()


target = "data/cache/" + pick(["train.jsonl", "train.pkl", "all.jsonl"])
logging.info("writing to %s", target)
with open(target, "wb") as sink:
    for index in range(400):
        images = torch.rand(16, 1, 20, 20)
        with torch.no_grad():
            vectors = encoder(images)
        write(sink, index, vectors)
        if index % 2 == 0:
            logging.info("batch %d: %s features, %.1f KiB written", index, tuple(vectors.shape), sink.tell() / 1024)
logging.info("all features extracted")
