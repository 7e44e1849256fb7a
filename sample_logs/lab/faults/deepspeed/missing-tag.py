"""The script asks load_checkpoint for a tag (a global step) that was never saved: DeepSpeed finds no file under it and fails an assertion without a message.

cause: data.missing-file
seconds: 300
also: [checkpoint.resume-mismatch, code.user-exception]
not: [checkpoint.corrupt, checkpoint.key-mismatch, io.permission]
signature: 'assert len\\(self.ckpt_list\\) > 0'
first_failure: 'AssertionError'
launch: |
  env RANK=0 LOCAL_RANK=0 WORLD_SIZE=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$LAB_PORT python evaluate.py --train > training.log 2>&1
  deepspeed --num_gpus 1 --master_port $LAB_PORT evaluate.py --tag $(python -c "from labkit import pick; print(pick(['global_step500', 'best', 'epoch_12']))")
runs_as: evaluate.py
"""

import argparse

import deepspeed
import torch
from labkit import seed_everything
from torch import nn

deepspeed.ops.__compatible_ops__ = {}  # gloo alone; else DeepSpeed would first compile its shared-memory all-reduce
parser = argparse.ArgumentParser()
parser.add_argument("--local_rank", type=int, default=0)
parser.add_argument("--train", action="store_true")
parser.add_argument("--tag")
args = parser.parse_args()
seed_everything()
net = nn.Sequential(nn.Linear(12, 24), nn.Tanh(), nn.Linear(24, 1))
engine, _, _, _ = deepspeed.initialize(model=net, optimizer=torch.optim.Adam(net.parameters()), config={"train_batch_size": 4, "zero_optimization": {"stage": 2}})
x = torch.randn(400, 12)
if args.train:
    for rows in x.split(4):
        loss = nn.functional.mse_loss(engine(rows), rows.mean(1, keepdim=True))
        engine.backward(loss)
        engine.step()
    engine.save_checkpoint("ckpt")
else:
    print(f"evaluating checkpoint {args.tag!r}")
    loaded, _ = engine.load_checkpoint("ckpt", tag=args.tag)
    print(f"loaded {loaded}")
    print("mse", nn.functional.mse_loss(engine(x), x.mean(1, keepdim=True)).item())
