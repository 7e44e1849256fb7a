"""accelerate launch is called with an option value that it does not know: a usage error before the script starts.

cause: distributed.launcher
also: [config.arguments, config.trainer]
not: [environment.missing-package, code.user-exception]
signature: 'launch: error: argument'
runs_as: train_nlp.py
launch: |
  OPTIONS=("--mixed_precision float16 --num_processes 1" "--num_processes two --mixed_precision no" "--dynamo_backend inductr --num_processes 1")
  chosen=${OPTIONS[$LAB_SEED]}
  set -x
  accelerate launch --cpu $chosen train_nlp.py --model tiny --epochs 3
environment: transformers
"""

import sys

from accelerate import Accelerator

accelerator = Accelerator()
accelerator.print(sys.argv, accelerator.state)
