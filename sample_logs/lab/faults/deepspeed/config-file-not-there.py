"""The launch command names a DeepSpeed file that is not there: DeepSpeed takes the path for an encoded configuration and says that it expected a path to an existing one.

cause: config.deepspeed
seconds: 300
also: [data.missing-file]
not: [io.permission, config.arguments, code.user-exception]
signature: 'ValueError: Expected a string path to an existing deepspeed config'
launch: deepspeed --num_gpus 1 --master_port $LAB_PORT train.py --ds $(python -c "from labkit import pick; print(pick(['configs/ds_zero3.json', '../ds_config_bf16.json', 'ds_config.jsn']))")
"""

import argparse

import deepspeed
import torch
from labkit import seed_everything

deepspeed.ops.__compatible_ops__ = {}  # gloo alone; else DeepSpeed would first compile its shared-memory all-reduce
parser = argparse.ArgumentParser()
parser.add_argument("--local_rank", type=int, default=0)
parser.add_argument("--ds", required=True, help="DeepSpeed configuration")
parser.add_argument("--lr", type=float, default=3e-4)
opts = parser.parse_args()
print("options", opts)
seed_everything()
ae = torch.nn.Sequential(torch.nn.Linear(784, 64), torch.nn.ReLU(), torch.nn.Linear(64, 784))
engine, _, _, _ = deepspeed.initialize(model=ae, optimizer=torch.optim.AdamW(ae.parameters(), lr=opts.lr), config=opts.ds)
for step in range(30):
    image = torch.rand(16, 784)
    loss = torch.nn.functional.mse_loss(engine(image), image)
    engine.backward(loss)
    engine.step()
    print("step", step, "reconstruction", loss.item())
