r"""A wheel compiled for numpy 1 (pandas, scipy, pyarrow) is imported beside numpy 2.

cause: environment.abi-mismatch
also: [environment.version-incompatible]
not: [environment.missing-package, code.dtype-mismatch, data.schema, code.user-exception]
signature: '(numpy\.dtype size changed|numpy\.core\.multiarray failed to import)'
first_failure: '(numpy\.dtype size changed|_ARRAY_API not found)'
environment: numpy-abi
runs_as: train_gbm_net.py
launch: python train_gbm_net.py
dump_command: python -m torch.utils.collect_env
"""

import numpy as np
import torch
from labkit import pick, seed_everything

seed_everything()
print("numpy", np.__version__)
print("torch", torch.__version__)
print("reading", pick(["data/train.csv", "data/train.parquet", "data/train.npz"]))
if pick([1, 0, 0]):
    import pandas as pd
    frame = pd.read_csv("data/train.csv")
elif pick([0, 1, 0]):
    import pyarrow.parquet as pq
    frame = pq.read_table("data/train.parquet").to_pydict()
else:
    from scipy.sparse import load_npz
    frame = load_npz("data/train.npz")
print(len(frame))
