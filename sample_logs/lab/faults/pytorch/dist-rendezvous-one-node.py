r"""A two-node job whose second node never came: torchrun's rendezvous gives up after its join time-out.

cause: distributed.rendezvous
not: [distributed.port-in-use, distributed.nccl-timeout, hang.startup]
signature: 'rendezvous\.api\.RendezvousTimeoutError'
variables: {LOGLEVEL: INFO}
runs_as: train.py
launch: torchrun --nnodes 2 --nproc-per-node 1 --rdzv-id 20931 --rdzv-backend c10d --rdzv-endpoint localhost:$LAB_PORT --rdzv-conf join_timeout=$((8 + 3 * LAB_SEED)) train.py
"""

import torch
import torch.distributed as dist
from labkit import SEED

dist.init_process_group("gloo")
torch.manual_seed(SEED)
print("world size", dist.get_world_size())
