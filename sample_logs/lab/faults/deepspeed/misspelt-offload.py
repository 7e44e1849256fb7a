"""A key of the zero_optimization section is misspelt or has a value of the wrong kind: DeepSpeed's pydantic model refuses it, once per rank.

cause: config.deepspeed
seconds: 300
not: [environment.version-incompatible, data.schema, code.user-exception, memory.cuda-oom]
signature: 'ValidationError: \\d validation error for DeepSpeedZeroConfig'
launch: deepspeed --num_gpus 2 --master_port $LAB_PORT rlhf_step1.py --offload
runs_as: rlhf_step1.py
"""

import argparse

import deepspeed
import torch
from labkit import pick, seed_everything

deepspeed.ops.__compatible_ops__ = {}  # gloo alone; else DeepSpeed would first compile its shared-memory all-reduce


def ds_config(offload):
    device = "cpu" if offload else "none"
    zero = pick(
        [
            {"stage": 3, "offload_optimzer": {"device": device}, "offload_param": {"device": device}},
            {"stage": 3, "stage3_prefetch_bucket_size": 0.9 * 771 * 771, "offload_param": {"device": device}},
            {"stage": "zero3", "overlap_comm": True},
        ]
    )
    return {"train_micro_batch_size_per_gpu": 2, "zero_optimization": zero, "bf16": {"enabled": True}, "gradient_clipping": 1.0}


parser = argparse.ArgumentParser()
parser.add_argument("--local_rank", type=int, default=-1)
parser.add_argument("--offload", action="store_true")
args = parser.parse_args()
seed_everything()
deepspeed.init_distributed("gloo")
args.global_rank = torch.distributed.get_rank()
policy = torch.nn.Sequential(torch.nn.Embedding(64, 32), torch.nn.Linear(32, 64))
if args.global_rank == 0:
    print(f"***** Running step 1, {args} *****")
engine, *_ = deepspeed.initialize(model=policy, optimizer=torch.optim.AdamW(policy.parameters()), config=ds_config(args.offload))
for step in range(20):
    tokens = torch.randint(0, 64, (2, 12))
    loss = torch.nn.functional.cross_entropy(engine(tokens[:, :-1]).float().flatten(0, 1), tokens[:, 1:].flatten())
    engine.backward(loss)
    engine.step()
