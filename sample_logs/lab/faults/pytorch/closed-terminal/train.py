import logging
import time

import torch
import torch.distributed as dist
from labkit import pick, seed_everything

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
dist.init_process_group("gloo")
seed_everything()
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(24, 64), torch.nn.ReLU(), torch.nn.Linear(64, 6)))
optimizer = torch.optim.SGD(model.parameters(), lr=pick([0.1, 0.05, 0.2]))
logging.info("world size %d, training for 10000 iterations", dist.get_world_size())
for iteration in range(1, 10001):
    inputs = torch.randn(32, 24)
    loss = torch.nn.functional.cross_entropy(model(inputs), inputs[:, :6].argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    time.sleep(0.02)
    if iteration % 10 == 0:
        logging.info("iter %d loss %.4f lr %.2f", iteration, loss.item(), optimizer.param_groups[0]["lr"])
    if iteration == pick([150, 100, 200]):
        open("running", "w").close()
