"""torchvision was installed for another torch than the one that is there: its compiled operators do not load, so its Python part cannot register them.

cause: environment.version-incompatible
also: [environment.abi-mismatch]
not: [environment.missing-package, code.user-exception, environment.extension-build]
signature: 'RuntimeError: operator torchvision::nms does not exist'
environment: extensions
runs_as: train_resnet.py
launch: python train_resnet.py
dump_command: python -m torch.utils.collect_env
"""

import importlib.metadata

import numpy as np
import torch
from labkit import pick, seed_everything

seed_everything()
print(f"torch {importlib.metadata.version('torch')}")
if pick([True, False, True]):
    print(f"torchvision {importlib.metadata.version('torchvision')}")
print(f"numpy {np.__version__}")
print("arch:", pick(["resnet18", "resnet50", "vit_b_16"]))
if pick([True, True, False]):
    import torchvision.transforms as T
    from torchvision import models
else:
    from torchvision.models import vit_b_16
    from torchvision.transforms import v2 as T
    models = None

transform = T.Compose([T.RandomHorizontalFlip(), T.Normalize((0.5,) * 3, (0.5,) * 3)])
model = models.resnet18(num_classes=10) if models else vit_b_16(num_classes=10)
print(model, transform, torch.get_num_threads())
