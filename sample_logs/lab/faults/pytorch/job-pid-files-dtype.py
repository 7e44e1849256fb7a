r"""Three processes of mp.spawn, each with a log file named by its pid, and the parent's output; one rank reads a shard that was saved in double precision.

cause: code.dtype-mismatch
also: [data.schema]
not: [distributed.peer-failure, code.serialization]
signature: 'RuntimeError: mat1 and mat2 must have the same dtype'
first_failure_source: 'train\.\d+\.log'
runs_as: spawn_train.py
launch: |
  python spawn_train.py --out $LAB_OUT > $LAB_OUT/stdout.log 2>&1
"""

import argparse
import logging
import os
import time
from datetime import timedelta

import numpy as np
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from labkit import PORT, SEED, pick
from torch import nn


def shard(rank, number):
    generator = np.random.default_rng(SEED * 100 + rank * 10 + number)
    rows = generator.normal(size=(64, 10))
    return rows if (rank, number) == pick([(1, 3), (2, 2), (1, 5)]) else rows.astype(np.float32)


def worker(rank, world, out):
    logging.basicConfig(filename=f"{out}/train.{os.getpid()}.log", level=logging.INFO, format="%(asctime)s %(process)d %(levelname)s %(message)s")
    log = logging.getLogger()
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{PORT}", rank=rank, world_size=world, timeout=timedelta(seconds=60))
    log.info("rank %d of %d ready", rank, world)
    torch.manual_seed(SEED)
    model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(10, 20), nn.ReLU(), nn.Linear(20, 1)))
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.05)
    try:
        for number in range(8):
            for batch in torch.from_numpy(shard(rank, number)).split(16):
                loss = model(batch).sub(batch.sum(1, keepdim=True)).square().mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            log.info("shard %d loss %.4f", number, loss.item())
    except Exception:
        log.exception("rank %d stopped", rank)
        time.sleep(2)
        raise
    log.info("rank %d done", rank)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", default=".")
    args = parser.parse_args()
    print(f"main process {os.getpid()}: spawning 3 workers", flush=True)
    mp.spawn(worker, args=(3, args.out), nprocs=3)
    print("all workers joined")
