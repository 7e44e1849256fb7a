"""The program cannot import triton. On Linux the package is missing; on Windows there is none to install. Only the dump names the system.

cause: environment.missing-package
signature: "No module named 'triton'"
runs_as: launch_training.py
dumps:
  - {name: linux, file: a100-linux.env, cause: environment.missing-package, also: [environment.version-incompatible], not: [environment.platform, code.user-exception], why: "Linux has wheels of triton."}
  - {name: windows, file: rtx4090-windows.env, cause: environment.platform, also: [], not: [code.user-exception, environment.abi-mismatch], why: "There is no official triton for Windows."}
"""

import sys

from labkit import pick

print(f"loading fused {pick(['cross entropy', 'layer norm', 'rotary embedding'])} kernels")
try:
    import triton  # noqa: F401
except ImportError as error:
    sys.exit(f"cannot start: {type(error).__name__}: {error}")
