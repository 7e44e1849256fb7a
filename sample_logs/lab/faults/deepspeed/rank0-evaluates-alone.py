"""Under ZeRO-3 every forward pass gathers weights from all ranks; evaluation runs on rank 0 alone, rank 1 is already in the next step, and their collectives do not match in size: gloo aborts one of the processes.

cause: distributed.rank-desync
seconds: 300
also: [distributed.sharding, code.native-crash]
not: [distributed.rendezvous, distributed.nccl-network, hang.startup, distributed.peer-failure]
signature: 'op\\.preamble\\.length <= op\\.nbytes'
launch: deepspeed --num_gpus 2 --master_port $LAB_PORT train_zero3.py --eval_every $(python -c "from labkit import pick; print(pick([6, 4, 8]))")
runs_as: train_zero3.py
"""

import argparse
import datetime

import deepspeed
import torch
from labkit import seed_everything
from torch import nn

deepspeed.ops.__compatible_ops__ = {}  # gloo alone; else DeepSpeed would first compile its shared-memory all-reduce
parser = argparse.ArgumentParser()
parser.add_argument("--local_rank", type=int, default=-1)
parser.add_argument("--eval_every", type=int, default=10)
args = parser.parse_args()
seed_everything()
deepspeed.init_distributed(timeout=datetime.timedelta(seconds=15))
model = nn.Sequential(nn.Linear(32, 128), nn.GELU(), nn.Linear(128, 128), nn.GELU(), nn.Linear(128, 4))
engine, _, _, _ = deepspeed.initialize(
    model=model,
    optimizer=torch.optim.AdamW(model.parameters(), lr=1e-3),
    config={
        "train_micro_batch_size_per_gpu": 8,
        "bf16": {"enabled": True},
        "zero_optimization": {"stage": 3, "stage3_param_persistence_threshold": 0, "stage3_max_live_parameters": 0, "stage3_max_reuse_distance": 0, "stage3_prefetch_bucket_size": 0},
    },
)
centres = torch.randn(4, 32)


def batch(size):
    labels = torch.randint(0, 4, (size,))
    return (centres[labels] + torch.randn(size, 32)).bfloat16(), labels


for step in range(1, 41):
    x, labels = batch(8)
    loss = nn.functional.cross_entropy(engine(x).float(), labels)
    engine.backward(loss)
    engine.step()
    print(f"rank {args.local_rank}: step {step} loss {loss.item():.4f}", flush=True)
    if step % args.eval_every == 0 and args.local_rank == 0:
        engine.eval()
        print(f"rank 0: evaluating at step {step} ...", flush=True)
        with torch.no_grad():
            x, labels = batch(256)
            hits = (engine(x).argmax(-1) == labels).float().mean()
        print(f"rank 0: accuracy {hits:.4f}", flush=True)
        engine.train()
