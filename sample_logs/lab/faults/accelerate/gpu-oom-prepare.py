"""A model larger than the card is handed to accelerator.prepare, which moves it there.

cause: memory.oom-at-load-or-save
also: [memory.cuda-oom]
not: [memory.cuda-fragmentation, memory.gpu-shared, memory.cuda-leak]
signature: 'CUDA out of memory'
environment: transformers
runs_as: train_large.py
launch: accelerate launch train_large.py
needs: [gpu]
kept: []
seconds: 300
"""

import logging
import torch
from accelerate import Accelerator
from accelerate.logging import get_logger
from labkit import pick, seed_everything

logging.basicConfig(format="%(asctime)s - %(levelname)s - %(name)s - %(message)s", datefmt="%m/%d/%Y %H:%M:%S", level=logging.INFO)
logger = get_logger(__name__)
seed_everything()
accelerator = Accelerator(mixed_precision="bf16")
logger.info(accelerator.state, main_process_only=False)


class Grown(torch.nn.Module):
    """Layers that share one host tensor until they are moved: no 200 GB of host memory needed."""

    def __init__(self, layers):
        super().__init__()
        one = torch.empty(16384, 16384)
        self.layers = torch.nn.ParameterList([torch.nn.Parameter(one.view(16384, 16384)) for _ in range(layers)])


model = Grown(pick([160, 180, 150]))
logger.info(f"Model has {sum(p.numel() for p in model.parameters()) / 1e9:.1f}B parameters")
model = accelerator.prepare(model)
