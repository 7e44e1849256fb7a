import ctypes
import os
import time

import torch
from labkit import pick, seed_everything

seed_everything()
n = pick([128, 256, 64])
a, b = torch.randn(n, n), torch.randn(n, n)
began = time.perf_counter()
for _ in range(20):
    c = a @ b
print(f"torch.matmul   n={n}   {(time.perf_counter() - began) / 20 * 1e6:9.1f} us")
library = ctypes.CDLL(os.path.abspath("libgemm_ref.so"), mode=os.RTLD_NOW)
out = torch.empty(n, n)
began = time.perf_counter()
for _ in range(20):
    library.gemm(ctypes.c_void_p(a.data_ptr()), ctypes.c_void_p(b.data_ptr()), ctypes.c_void_p(out.data_ptr()), n)
print(f"libgemm_ref    n={n}   {(time.perf_counter() - began) / 20 * 1e6:9.1f} us")
print("max difference", (out - c).abs().max().item())
