r"""A list of predictions for later metrics keeps whole activations: the process grows step by step until the kernel kills it at the cgroup's limit.

cause: memory.host-oom
not: [memory.cuda-leak, memory.cuda-oom, scheduler.terminated, hang.stalled]
signature: '\bKilled\b'
needs: [cgroup]
memory_mib: 900
"""

import logging
import resource

import torch
from labkit import pick, seed_everything

logging.basicConfig(format="%(asctime)s [%(levelname)s] %(message)s", level=logging.INFO)
WIDTH = pick([8192, 4096, 6144])
seed_everything()
body = torch.nn.Sequential(torch.nn.Linear(64, WIDTH), torch.nn.ReLU())
head = torch.nn.Linear(WIDTH, 1)
optimizer = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=1e-3)
kept = []
logging.info("width %d, batch 256, 5000 steps", WIDTH)
for step in range(1, 5001):
    inputs = torch.randn(256, 64)
    features = body(inputs)
    loss = torch.nn.functional.mse_loss(head(features), inputs.sum(1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    kept.append((features, loss))
    if step % 5 == 0:
        logging.info("step %d loss %.4f max_rss %.1f MB", step, loss.item(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
