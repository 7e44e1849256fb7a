r"""A compiled forward takes a Python number that changes every step; with fullgraph the recompile limit is an error.

cause: code.torch-compile
also: [data.collation]
not: [memory.cuda-oom, code.shape-mismatch, environment.version-incompatible]
signature: '^torch\._dynamo\.exc\.Unsupported: Dynamo recompile limit exceeded'
runs_as: train.py
seconds: 180
"""

import logging

import torch
import torch.nn as nn
from labkit import note, pick, seed_everything

logging.basicConfig(format="%(asctime)s | %(message)s", level=logging.INFO)
seed_everything()
torch._dynamo.config.recompile_limit = pick([8, 5, 12])


class Annealed(nn.Module):
    def __init__(self):
        super().__init__()
        self.temperature = 2.0
        self.body = nn.Sequential(nn.Linear(20, 40), nn.ReLU(), nn.Linear(40, 6))

    def forward(self, x):
        return self.body(x) / self.temperature


net = Annealed()
fast = torch.compile(net, fullgraph=True, backend="aot_eager", dynamic=False)
sgd = torch.optim.SGD(net.parameters(), lr=0.1)
inputs = torch.randn(400, 20)
kinds = inputs[:, :6].argmax(1)
logging.info("annealing the temperature from %.2f over %d steps", net.temperature, 60)
for step in range(60):
    net.temperature = max(0.5, 2.0 - 0.03 * step)
    rows = torch.randint(0, 400, (pick([64, 32, 100]),))
    loss = nn.functional.cross_entropy(fast(inputs[rows]), kinds[rows])
    sgd.zero_grad()
    loss.backward()
    sgd.step()
    logging.info("step %d loss %.4f temperature %.2f", step, loss.item(), net.temperature)
    note("loss", step, round(loss.item(), 4))
