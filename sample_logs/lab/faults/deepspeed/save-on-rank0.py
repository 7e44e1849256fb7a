"""save_checkpoint is a collective call, the script makes it on rank 0 only: its collectives meet the next step's of rank 1.

cause: distributed.rank-desync
seconds: 300
also: [distributed.nccl-timeout, code.user-exception]
not: [checkpoint.save-failed, checkpoint.corrupt, distributed.nccl-network, distributed.rendezvous]
signature: 'RuntimeError: .*(Timed out|gloo)'
launch: torchrun --nproc-per-node 2 --master-port $LAB_PORT main.py --save-every $(python -c "from labkit import pick; print(pick([10, 6, 8]))")
runs_as: main.py
"""

import argparse
import datetime
import logging
import os

import deepspeed
import torch
from labkit import pick, seed_everything
from torch import nn

deepspeed.ops.__compatible_ops__ = {}  # gloo alone; else DeepSpeed would first compile its shared-memory all-reduce
rank = int(os.environ["RANK"])
logging.basicConfig(level=logging.INFO, format=f"%(asctime)s rank{rank} %(message)s")
log = logging.getLogger()
parser = argparse.ArgumentParser()
parser.add_argument("--save-every", type=int, default=100)
args = parser.parse_args()
seed_everything()
deepspeed.init_distributed("gloo", timeout=datetime.timedelta(seconds=20))
model = nn.Sequential(nn.Linear(16, 48), nn.SiLU(), nn.Linear(48, 16))
engine, _, _, _ = deepspeed.initialize(
    model=model,
    optimizer=torch.optim.AdamW(model.parameters(), lr=pick([1e-3, 2e-3, 5e-4])),
    config={"train_micro_batch_size_per_gpu": 8, "zero_optimization": {"stage": 1}, "bf16": {"enabled": True}},
)
for step in range(1, 101):
    x = torch.randn(8, 16).bfloat16()
    loss = nn.functional.mse_loss(engine(x).float(), x.flip(1).float())
    engine.backward(loss)
    engine.step()
    if step % 2 == 0:
        log.info("step %d loss %.4f", step, loss.item())
    if step % args.save_every == 0 and rank == 0:
        log.info("saving checkpoint step%d", step)
        engine.save_checkpoint("ckpt", tag=f"step{step}")
        log.info("saved")
