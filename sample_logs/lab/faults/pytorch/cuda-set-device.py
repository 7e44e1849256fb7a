"""A launcher's script picks its GPU by local rank before anything else; a CPU build of torch has no such function.

cause: cuda.not-available
also: [distributed.device-count]
not: [environment.version-incompatible, code.user-exception, cuda.driver-too-old]
signature: "(AttributeError: module 'torch._C' has no attribute|AssertionError: Torch not compiled with CUDA enabled|RuntimeError: .*CUDA)"
runs_as: pretrain.py
launch: LOCAL_RANK=$LAB_SEED python pretrain.py
"""

import logging
import os

import torch
from labkit import pick, seed_everything

logging.basicConfig(level=logging.INFO, format="[%(asctime)s][%(name)s][%(levelname)s] %(message)s")
log = logging.getLogger("pretrain")
seed_everything()
local_rank = int(os.environ["LOCAL_RANK"])
log.info("torch %s, local rank %d", torch.__version__, local_rank)
log.info("config: %s", {"hidden": pick([256, 512, 128]), "seq": 128, "lr": 6e-4})
torch.cuda.set_device(local_rank)
log.info("using %s", torch.cuda.get_device_name(local_rank))
