r"""Two nodes, but only the files of node 0 were collected: its worker and its agent tell of a lost peer and nothing tells why that peer went away.

cause: distributed.peer-failure
also: [unknown.no-cause-shown]
not: [distributed.nccl-network, distributed.rank-desync, code.user-exception]
signature: 'RuntimeError: .*Connection (closed|reset) by peer'
first_failure_source: 'rank0\.err'
note: 'node 1 was killed by SIGKILL; its files are not part of the case'
runs_as: train_flow.py
launch: |
  torchrun --nnodes 2 --node-rank 0 --nproc-per-node 1 --master-addr 127.0.0.1 --master-port $LAB_PORT --redirects 3 --log-dir node0 train_flow.py > agent.log 2>&1 & first=$!
  torchrun --nnodes 2 --node-rank 1 --nproc-per-node 1 --master-addr 127.0.0.1 --master-port $LAB_PORT train_flow.py > /dev/null 2>&1 & second=$!
  until grep -qs '^ *14 ' node0/*/attempt_0/0/stdout.log; do sleep 0.1; done
  workers=$(ps -o pid= --ppid $second)
  kill -9 $second $workers
  wait $first
  code=$?
  cp node0/*/attempt_0/0/stdout.log $LAB_OUT/rank0.out; cp node0/*/attempt_0/0/stderr.log $LAB_OUT/rank0.err; cp agent.log $LAB_OUT/
  exit $code
"""

import time
from datetime import timedelta

import torch
import torch.distributed as dist
from labkit import SEED, pick
from torch import nn

dist.init_process_group("gloo", timeout=timedelta(seconds=60))
torch.manual_seed(SEED)


class Coupling(nn.Module):
    def __init__(self, flip):
        super().__init__()
        self.flip = flip
        self.net = nn.Sequential(nn.Linear(1, pick([16, 24, 32])), nn.Tanh(), nn.Linear(pick([16, 24, 32]), 2))

    def forward(self, x):
        kept, changed = (x[:, 1:], x[:, :1]) if self.flip else (x[:, :1], x[:, 1:])
        scale, shift = self.net(kept).tanh().chunk(2, 1)
        changed = changed * scale.exp() + shift
        return torch.cat([changed, kept] if self.flip else [kept, changed], 1), scale.sum(1)


class Flow(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Coupling(index % 2 == 1) for index in range(4))

    def forward(self, x):
        total = 0
        for layer in self.layers:
            x, logdet = layer(x)
            total = total + logdet
        return -(total - 0.5 * x.square().sum(1) - 1.8379).mean()


flow = nn.parallel.DistributedDataParallel(Flow())
optimizer = torch.optim.Adam(flow.parameters(), lr=2e-3)
print(f"{'step':>6} {'nll':>9} {'grad':>9}   ({dist.get_world_size()} nodes)", flush=True)
for step in range(1, 300):
    turn = torch.rand(128) * 3.14159
    moons = torch.stack([turn.cos(), turn.sin()], 1) + 0.1 * torch.randn(128, 2)
    loss = flow(moons)
    optimizer.zero_grad()
    loss.backward()
    norm = nn.utils.clip_grad_norm_(flow.parameters(), 5.0)
    optimizer.step()
    print(f"{step:6d} {loss.item():9.4f} {norm.item():9.4f}", flush=True)
    time.sleep(0.2)
