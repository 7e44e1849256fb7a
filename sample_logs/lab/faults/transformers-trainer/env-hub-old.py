r"""huggingface_hub was held back by another package; transformers 5 imports a name from it that it does not have.

cause: environment.version-incompatible
also: []
not: [environment.missing-package, io.hub-access, code.user-exception]
signature: 'ImportError: cannot import name ''\w+'' from ''huggingface_hub'''
environment: pair-old-hub
runs_as: train.py
dump_command: python -m torch.utils.collect_env
launch: |
  set -x
  pip list 2>/dev/null | grep -i -E 'torch|hub|transformers|numpy'
  python train.py
"""

import os
import sys

import torch
from labkit import pick, seed_everything

seed_everything()
print("torch", torch.__version__, "python", sys.version.split()[0], file=sys.stderr)
print("run:", pick(["mistral-7b-sft", "qwen-lora", "bert-ner"]), "| rank", os.environ.get("RANK", 0))
if pick([1, 0, 0]):
    from transformers import AutoModelForCausalLM, AutoTokenizer
elif pick([0, 1, 0]):
    import transformers
    transformers.set_seed(3407)
else:
    from transformers import Trainer, TrainingArguments
