"""accelerate launch gets a configuration file, or a script, that is not there.

cause: data.missing-file
also: [distributed.launcher, config.arguments]
not: [io.hub-access, io.permission, checkpoint.key-mismatch]
signature: 'does not exist|No such file or directory'
runs_as: train.py
launch: |
  CONFIGS=("configs/zero2.yaml" "accelerate_config.yml" "")
  SCRIPTS=("train.py" "train.py" "src/train.py")
  config=${CONFIGS[$LAB_SEED]} script=${SCRIPTS[$LAB_SEED]}
  set -x
  accelerate launch ${config:+--config_file $config} --cpu --num_processes 1 --num_machines 1 --mixed_precision no --dynamo_backend no $script --output_dir out
environment: transformers
"""

from accelerate import Accelerator

print(Accelerator().state)
