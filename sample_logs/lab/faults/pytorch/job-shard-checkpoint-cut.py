r"""Each of four ranks resumes its own optimiser shard; the file of one rank was cut when it was copied, and reading its archive fails.

cause: checkpoint.corrupt
also: [io.storage]
not: [distributed.peer-failure, checkpoint.key-mismatch, distributed.rendezvous]
signature: 'RuntimeError: PytorchStreamReader failed reading zip archive'
first_failure_source: 'rank_0\d\.txt'
runs_as: resume.py
launch: |
  export MASTER_ADDR=127.0.0.1 MASTER_PORT=$LAB_PORT WORLD_SIZE=4
  pids=
  for i in 0 1 2 3; do RANK=$i python resume.py --resume ckpt > $LAB_OUT/rank_0$i.txt 2>&1 & pids="$pids $!"; done
  code=0; for p in $pids; do wait $p || code=$?; done; exit $code
"""

import argparse
import os
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist
from labkit import SEED, pick
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--resume", type=Path)
args = parser.parse_args()
dist.init_process_group("gloo", timeout=timedelta(seconds=60))
rank = dist.get_rank()
torch.manual_seed(SEED)
model = nn.Sequential(nn.Linear(30, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 4))
flat = torch.nn.Parameter(torch.nn.utils.parameters_to_vector(model.parameters()).detach().chunk(4)[rank].clone())
optimizer = torch.optim.Adam([flat], lr=1e-3)


def write_earlier_run(folder):
    """What the earlier run left, and the copy of one file that ended too early."""
    folder.mkdir(exist_ok=True)
    flat.grad = torch.zeros_like(flat)
    optimizer.step()
    path = folder / f"optim-{rank:05d}.pt"
    torch.save({"optimizer": optimizer.state_dict(), "step": pick([400, 1200, 800])}, path)
    if rank == pick([2, 3, 1]):
        os.truncate(path, path.stat().st_size * 2 // 3)


write_earlier_run(args.resume)
print(f"[{rank}] loading {args.resume}/optim-{rank:05d}.pt", flush=True)
state = torch.load(args.resume / f"optim-{rank:05d}.pt")
optimizer.load_state_dict(state["optimizer"])
print(f"[{rank}] resumed at step {state['step']}", flush=True)
for step in range(state["step"], state["step"] + 20):
    x = torch.randn(16, 30)
    loss = nn.functional.cross_entropy(model(x), x[:, :4].argmax(1))
    model.zero_grad()
    loss.backward()
    gradient = torch.cat([parameter.grad.flatten() for parameter in model.parameters()])
    dist.all_reduce(gradient)
    flat.grad = gradient.chunk(4)[rank] / 4
    optimizer.step()
    pieces = [torch.empty_like(piece) for piece in gradient.chunk(4)]
    dist.all_gather(pieces, flat.detach())
    torch.nn.utils.vector_to_parameters(torch.cat(pieces), model.parameters())
    print(f"[{rank}] step {step} loss {loss.item():.4f}", flush=True)
