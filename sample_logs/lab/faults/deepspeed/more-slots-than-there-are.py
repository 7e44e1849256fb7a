"""The command includes slot numbers that this machine does not have: the launcher stops before it starts anything.

cause: distributed.device-count
seconds: 300
also: [distributed.launcher]
not: [cuda.not-available, distributed.rendezvous, config.deepspeed]
signature: "ValueError: (No slot '\\\\d+' specified on host|Hostname '.*' not found)"
launch: deepspeed --include localhost:$(python -c "from labkit import pick; print(pick(['0,16', '96', '0,1,2,64']))") --master_port $LAB_PORT train.py
variables: {DS_ACCELERATOR: cpu}
"""

import argparse

import deepspeed
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--local_rank", type=int, default=-1)
parser.parse_args()
model = torch.nn.Linear(8, 1)
engine, *_ = deepspeed.initialize(model=model, optimizer=torch.optim.SGD(model.parameters(), lr=0.1), config={"train_batch_size": 8})
print(engine)
