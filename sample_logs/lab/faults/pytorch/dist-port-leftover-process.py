r"""Workers started with fixed MASTER_PORT by mp.spawn while a process of an earlier run still listens there: rank 0 cannot open the store.

cause: distributed.port-in-use
not: [distributed.rendezvous, io.permission, distributed.nccl-network]
signature: 'EADDRINUSE|[Aa]ddress already in use'
runs_as: run_local.py
launch: |
  python run_local.py --serve &
  until [ -e serving ]; do sleep 0.1; done
  python run_local.py
"""

import argparse
import os
import time
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from labkit import PORT, SEED, pick

os.environ["MASTER_ADDR"] = "localhost"
os.environ["MASTER_PORT"] = PORT


def worker(rank, world):
    dist.init_process_group("gloo", rank=rank, world_size=world)
    torch.manual_seed(SEED)
    total = torch.tensor([float(rank)])
    dist.all_reduce(total)
    print("sum of ranks", total.item(), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--serve", action="store_true")
    args = parser.parse_args()
    if args.serve:
        # What the earlier run left: its store.
        store = dist.TCPStore("localhost", int(PORT), is_master=True, wait_for_workers=False)
        Path("serving").touch()
        time.sleep(60)
    else:
        count = pick([2, 3, 2])
        print(f"starting {count} workers on {os.environ['MASTER_ADDR']}:{os.environ['MASTER_PORT']}", flush=True)
        mp.spawn(worker, args=(count,), nprocs=count)
