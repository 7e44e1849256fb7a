"""A package that is not installed is imported.

cause: environment.missing-package
also: []
not: [code.user-exception, environment.version-incompatible]
signature: "ModuleNotFoundError: No module named 'flash_attn'"
"""

import torch

print("torch", torch.__version__)
from flash_attn import flash_attn_func  # noqa: E402

print(flash_attn_func)
