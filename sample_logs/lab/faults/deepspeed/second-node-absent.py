"""Node 0 of two is started by hand (--no_ssh); the other node never comes, and the rendezvous times out.

cause: distributed.rendezvous
seconds: 300
also: [distributed.launcher]
not: [distributed.port-in-use, distributed.nccl-timeout, hang.startup, distributed.device-count]
signature: 'DistStoreError|Timed out after \\d+ seconds waiting for clients'
launch: |
  printf 'node-a slots=1\\nnode-b slots=1\\n' > hosts.txt
  deepspeed --hostfile hosts.txt --no_ssh --node_rank 0 --master_addr 127.0.0.1 --master_port $LAB_PORT train_multi.py
runs_as: train_multi.py
"""

import argparse
import datetime
import logging

import deepspeed
import torch
from labkit import pick, seed_everything

deepspeed.ops.__compatible_ops__ = {}  # gloo alone; else DeepSpeed would first compile its shared-memory all-reduce
logging.basicConfig(level=logging.INFO)
parser = argparse.ArgumentParser()
parser.add_argument("--local_rank", type=int, default=-1)
parser.parse_args()
seed_everything()
logging.info("initialising the process group")
deepspeed.init_distributed(timeout=datetime.timedelta(seconds=pick([12, 15, 10])))
logging.info("world size %d", torch.distributed.get_world_size())
model = torch.nn.Linear(16, 16)
engine, *_ = deepspeed.initialize(model=model, optimizer=torch.optim.AdamW(model.parameters()), config={"train_micro_batch_size_per_gpu": 8, "zero_optimization": {"stage": 2}})
for step in range(100):
    loss = engine(torch.randn(8, 16)).pow(2).mean()
    engine.backward(loss)
    engine.step()
    logging.info("step %d loss %.4f", step, loss.item())
