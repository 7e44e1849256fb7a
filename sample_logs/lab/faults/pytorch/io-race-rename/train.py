import logging
import os
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from labkit import pick, seed_everything
from torch import nn

RANK, WORLD = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
logging.basicConfig(level=logging.INFO, format=f"%(asctime)s [rank{RANK}] %(levelname)s %(message)s")
CACHE = os.path.join("shared", pick(["tokens.pt", "features.pt", "index.pt"]))


def verify(path):
    data = torch.load(path)
    logging.info("verifying %s: %d rows", path, len(data))
    time.sleep(1.0 + 1.5 * RANK)  # the second node reads the shared disk more slowly


def prepared():
    if not os.path.exists(CACHE):
        logging.info("cache %s not found, building it", CACHE)
        partial = CACHE + ".tmp"
        parts = []
        for part in range(5):
            parts.append(torch.randn(200, 16))
            logging.info("part %d of 5: %d rows", part + 1, len(parts[-1]))
            time.sleep(pick([0.2, 0.1, 0.3]))
        if RANK == 0:
            time.sleep(0.5)
        torch.save(torch.cat(parts), partial)
        verify(partial)
        os.rename(partial, CACHE)
        logging.info("cache %s is ready", CACHE)
    return torch.load(CACHE)


seed_everything()
logging.info("rank %d of %d starts", RANK, WORLD)
dist.init_process_group("gloo", timeout=timedelta(seconds=60))
dist.barrier()
logging.info("process group is up")
data = prepared()
model = nn.Linear(16, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.01)
for step, rows in enumerate(data.split(100), 1):
    loss = (model(rows) - rows.sum(1, keepdim=True)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    for parameter in model.parameters():
        dist.all_reduce(parameter.grad)
    optimizer.step()
    logging.info("step %d loss %.4f", step, loss.item())
logging.info("done")
