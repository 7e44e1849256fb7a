"""The launcher starts two processes for a script that is not in the working folder: python exits with status 2 in each.

cause: data.missing-file
seconds: 300
also: [distributed.launcher]
not: [config.arguments, distributed.peer-failure, environment.missing-package]
signature: "can't open file"
launch: deepspeed --num_gpus 2 --master_port $LAB_PORT $(python -c "from labkit import pick; print(pick(['trian.py', 'src/train.py', 'scripts/finetune.py']))") --deepspeed_config ds_config.json
runs_as: train.py
"""

import torch

print(torch.__version__)
