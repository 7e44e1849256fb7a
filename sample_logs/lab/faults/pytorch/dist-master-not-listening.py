r"""The worker's node comes up, the master's does not: nothing listens at the master's port and the client's attempts time out.

cause: distributed.rendezvous
not: [distributed.port-in-use, distributed.nccl-timeout, io.hub-access]
signature: 'DistNetworkError: The client socket has timed out'
first_failure: 'The client socket has timed out after'
seconds: 120
runs_as: train_node.py
launch: torchrun --nnodes 2 --node-rank 1 --nproc-per-node 1 --master-addr 127.0.0.1 --master-port $LAB_PORT --rdzv-conf timeout=$((8 + 2 * LAB_SEED)) train_node.py --lr 0.1
"""

import argparse

import torch
import torch.distributed as dist
from labkit import SEED

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float)
args = parser.parse_args()
dist.init_process_group("gloo")
torch.manual_seed(SEED)
print(f"rank {dist.get_rank()} lr {args.lr}")
