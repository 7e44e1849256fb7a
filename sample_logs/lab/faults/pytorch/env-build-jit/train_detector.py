import os

import torch
from labkit import pick, seed_everything
from torch.utils.cpp_extension import load

seed_everything()
source = pick(["roi_align", "nms", "points"])
print(f"Using torch {torch.__version__.split('+')[0]} with {os.environ.get('MAX_JOBS')} build job(s)")
ops = load(name=source, sources=[f"{source}.cpp"], extra_cflags=["-O0"], verbose=pick([True, True, False]))
boxes = torch.rand(100, 4)
print(getattr(ops, pick(["roi_align_forward", "nms", "sample_points"])), boxes.shape)
