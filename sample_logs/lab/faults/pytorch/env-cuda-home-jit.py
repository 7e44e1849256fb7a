"""A training script compiles a small CUDA kernel at start-up (load_inline with cuda_sources); torch knows no CUDA toolkit here.

cause: environment.cuda-toolkit
also: [environment.extension-build, cuda.not-available]
not: [environment.missing-package, code.user-exception, environment.abi-mismatch]
signature: 'OSError: CUDA_HOME environment variable is not set'
runs_as: pretrain.py
launch: |
  set -x
  unset CUDA_HOME CUDA_PATH
  export TORCH_EXTENSIONS_DIR=$PWD/.cache
  python pretrain.py 2>&1 | tee pretrain.log
  exit ${PIPESTATUS[0]}
needs: [compiler]
"""

import torch
from labkit import pick, seed_everything
from torch.utils.cpp_extension import CUDA_HOME, load_inline

seed_everything()
KERNEL = """
__global__ void scale(float *x, float f, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= f; }
torch::Tensor rescale(torch::Tensor x, double f) { scale<<<(x.numel() + 255) / 256, 256>>>(x.data_ptr<float>(), f, x.numel()); return x; }
"""
print("Loading extension module", pick(["wkv6", "rescale", "selective_scan"]), "...")
print("CUDA_HOME =", CUDA_HOME)
print("hidden size", pick([512, 768, 1024]), "context", pick([1024, 512, 2048]))
module = load_inline(pick(["wkv6", "rescale", "selective_scan"]), cpp_sources="torch::Tensor rescale(torch::Tensor x, double f);", cuda_sources=KERNEL, functions=["rescale"], verbose=pick([True, False, True]))
print(module.rescale(torch.ones(4), 2.0))
