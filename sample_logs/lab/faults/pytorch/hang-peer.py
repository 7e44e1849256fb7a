"""The job was started on one node of two: the process group waits for the other rank without a word; the dump that the script scheduled shows where.

cause: hang.startup
also: [distributed.rendezvous]
not: [hang.stalled, healthy.running, distributed.nccl-timeout, distributed.port-in-use]
ends: time limit
outcome: stalled
seconds: 45
launch: |
  export MASTER_ADDR=127.0.0.1 MASTER_PORT=$LAB_PORT WORLD_SIZE=2 RANK=0
  python train.py
"""

import faulthandler
import os
import time

import torch
import torch.distributed as dist
from labkit import pick, seed_everything

faulthandler.dump_traceback_later(pick([12, 15, 10]), repeat=True)


def log(message):
    print(f"[{time.strftime('%H:%M:%S')}] rank {os.environ['RANK']}: {message}", flush=True)


def main():
    seed_everything()
    log(f"torch {torch.__version__}, master {os.environ['MASTER_ADDR']}:{os.environ['MASTER_PORT']}".replace(os.environ["MASTER_PORT"], "29500"))
    log(f"initialising process group, world size {os.environ['WORLD_SIZE']}, backend gloo")
    dist.init_process_group("gloo")
    log("process group ready")
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(16, 16))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(200):
        loss = model(torch.randn(8, 16)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        log(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
