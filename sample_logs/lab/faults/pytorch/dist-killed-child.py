r"""Two processes of mp.spawn; one is killed by SIGKILL from outside. The parent knows the signal, the other process a closed connection; nothing tells who killed.

cause: unknown.no-cause-shown
also: [distributed.peer-failure, memory.host-oom, scheduler.terminated]
not: [distributed.nccl-network, code.native-crash, code.user-exception]
signature: 'terminated with signal SIGKILL'
runs_as: main_spawn.py
launch: |
  python main_spawn.py & main=$!
  until [ -s rank1.pid ]; do sleep 0.1; done
  sleep 2
  kill -9 $(cat rank1.pid)
  wait $main
"""

import os
import time
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from labkit import PORT, SEED, note, pick
from torch import nn


def run(rank, world_size):
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{PORT}", rank=rank, world_size=world_size, timeout=timedelta(seconds=60))
    torch.manual_seed(SEED)
    model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 1)))
    optimizer = torch.optim.SGD(model.parameters(), lr=pick([0.02, 0.05, 0.01]))
    for step in range(1, 500):
        x = torch.rand(32, 6)
        loss = nn.functional.mse_loss(model(x), x.prod(1, keepdim=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if rank == 0 and (step <= 5 or step % 100 == 0):
            print(f"step {step}: loss {loss.item():.5f}", flush=True)
            note("loss", step, float(f"{loss.item():.5f}"))
        if rank == 1 and step == 6:
            Path("rank1.pid").write_text(str(os.getpid()))
        time.sleep(0.2)


if __name__ == "__main__":
    print(f"spawning 2 processes, torch {torch.__version__}", flush=True)
    mp.spawn(run, args=(2,), nprocs=2)
