"""The job resumes from a folder with no checkpoint in it: DeepSpeed only warns that there is no `latest` file and returns None, and the script stumbles over it.

cause: data.missing-file
seconds: 300
also: [code.user-exception, checkpoint.resume-mismatch]
not: [checkpoint.corrupt, checkpoint.key-mismatch, config.deepspeed]
signature: 'Unable to find latest file at'
first_failure: 'Unable to find latest file at'
launch: |
  mkdir -p runs/exp1 runs/exp2
  torchrun --nproc_per_node=1 --master_port=$LAB_PORT finetune.py --resume_dir $(python -c "from labkit import pick; print(pick(['runs/exp1', '/scratch/exp7/checkpoint', 'runs/exp2']))")
runs_as: finetune.py
"""

import argparse
import logging

import deepspeed
import torch
from labkit import pick, seed_everything
from torch import nn

deepspeed.ops.__compatible_ops__ = {}  # gloo alone; else DeepSpeed would first compile its shared-memory all-reduce
logging.basicConfig(format="%(asctime)s - %(levelname)s - %(name)s - %(message)s", datefmt="%m/%d/%Y %H:%M:%S", level=logging.INFO)
logger = logging.getLogger(__name__)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--resume_dir")
    parser.add_argument("--epochs", type=int, default=3)
    args = parser.parse_args()
    logger.info("Arguments: %s", args)
    seed_everything()
    model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 2))
    engine, _, _, _ = deepspeed.initialize(
        model=model,
        optimizer=torch.optim.AdamW(model.parameters(), lr=1e-3),
        config={"train_batch_size": 16, "zero_optimization": {"stage": 1}, "bf16": {"enabled": True}},
    )
    path, client_state = engine.load_checkpoint(args.resume_dir, load_optimizer_states=pick([True, False, True]))
    epoch = client_state["epoch"]
    logger.info("Resumed from %s, epoch %d", path, epoch)
    for _ in range(epoch, args.epochs):
        x = torch.randn(16, 10)
        loss = nn.functional.cross_entropy(engine(x.bfloat16()).float(), (x.sum(1) > 0).long())
        engine.backward(loss)
        engine.step()


main()
