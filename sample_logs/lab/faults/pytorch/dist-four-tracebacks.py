r"""Four ranks read one list of files on a path that is not there; their tracebacks stand in one stream.

cause: data.missing-file
not: [distributed.peer-failure, distributed.rank-desync, io.permission]
signature: 'FileNotFoundError: \[Errno 2\] No such file or directory'
runs_as: train_detector.py
launch: torchrun --nproc-per-node 4 --master-port $LAB_PORT train_detector.py --annotations data/coco/annotations/instances_train.json
"""

import argparse
import json

import torch
import torch.distributed as dist
from labkit import SEED, pick
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--annotations", default="")
parser.add_argument("--classes", type=int, default=pick([80, 20, 10]))
args = parser.parse_args()
dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(SEED)
print(f"rank {rank}: building detector with {args.classes} classes", flush=True)
model = nn.parallel.DistributedDataParallel(nn.Conv2d(3, args.classes + 5, 3))


def load_annotations(path):
    with open(path) as source:
        return json.load(source)


boxes = load_annotations(args.annotations)
print(f"rank {rank}: {len(boxes)} boxes", flush=True)
