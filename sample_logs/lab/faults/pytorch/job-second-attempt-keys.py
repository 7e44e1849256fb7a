r"""torchrun with one restart: the first attempt ends because the feature service refuses a connection; the second resumes from the checkpoint, which holds the keys of the wrapped model, and rank 0 cannot load it.

cause: checkpoint.key-mismatch
also: [checkpoint.resume-mismatch]
not: [distributed.peer-failure, io.storage, distributed.nccl-network]
signature: 'RuntimeError: Error\(s\) in loading state_dict'
first_failure_source: 'attempt_1/0/stderr\.log'
note: 'attempt_0 failed for another reason (ConnectionRefusedError on rank 1); the last attempt counts'
runs_as: main.py
launch: |
  torchrun --standalone --nproc-per-node 2 --max-restarts 1 --redirects 3 --log-dir logs main.py > agent.log 2>&1
  code=$?
  cp -r logs/*/attempt_* $LAB_OUT/
  cp agent.log $LAB_OUT/
  exit $code
"""

import os
import socket
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist
from labkit import PORT, SEED, pick
from torch import nn

attempt, rank, world = (int(os.environ[name]) for name in ("TORCHELASTIC_RESTART_COUNT", "RANK", "WORLD_SIZE"))
dist.init_process_group("gloo", init_method=f"file://{os.getcwd()}/.rendezvous-{attempt}", rank=rank, world_size=world, timeout=timedelta(seconds=60))
print(f"rank {rank}: restart count {os.environ['TORCHELASTIC_RESTART_COUNT']} of {os.environ['TORCHELASTIC_MAX_RESTARTS']}", flush=True)
torch.manual_seed(SEED)
width = pick([24, 40, 32])


class ResidualNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(9, width)
        self.block = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.SiLU())
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        x = self.stem(x)
        return self.head(x + self.block(x))


def fetch(step):
    """Rank 1 asks the feature service for hard examples now and then."""
    if rank == 1 and step == pick([12, 8, 16]):
        with socket.create_connection(("127.0.0.1", int(PORT)), timeout=5) as service:
            return torch.frombuffer(service.recv(8 * 9 * 4), dtype=torch.float32).reshape(8, 9)
    return torch.randn(8, 9)


net = ResidualNet()
path = Path("checkpoint.pt")
start = 0
if path.exists() and rank == 0:
    state = torch.load(path)
    print(f"rank 0: resuming from {path} at step {state['step']}", flush=True)
    net.load_state_dict(state["model"])
    start = state["step"]
model = nn.parallel.DistributedDataParallel(net)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
for step in range(start + 1, 41):
    x = fetch(step)
    loss = (model(x) - x.prod(1, keepdim=True)).abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"rank {rank}: step {step} mae {loss.item():.4f}", flush=True)
    if rank == 0 and step % 4 == 0:
        torch.save({"model": model.state_dict(), "step": step}, path)
