r"""torch.compile with inductor in a container without a C++ compiler (CXX names one that is not there).

cause: code.torch-compile
also: [environment.extension-build, environment.missing-package]
not: [code.user-exception, data.missing-file, environment.cuda-toolkit]
signature: 'No working C\+\+ compiler found'
runs_as: bench.py
launch: python bench.py
seconds: 240
"""

import os

os.environ.setdefault("CXX", "/usr/bin/" + ["g++-13", "clang++-17", "c++-12-cross"][int(os.environ.get("LAB_SEED", "0")) % 3])
os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")

import torch
from labkit import pick, seed_everything

seed_everything()


def gelu_bias_dropout(x, bias, p: float):
    return torch.nn.functional.dropout(torch.nn.functional.gelu(x + bias), p)


layer = torch.nn.Linear(64, pick([64, 128, 32]))
fused = torch.compile(gelu_bias_dropout)
optimizer = torch.optim.SGD(layer.parameters(), lr=0.01)
print(f"python threads {torch.get_num_threads()}, compile backends {torch.compiler.list_backends()}")
for step in range(30):
    x = torch.randn(pick([256, 64, 128]), 64)
    compiled = step >= 10
    h = torch.nn.functional.linear(x, layer.weight)
    out = (fused if compiled else gelu_bias_dropout)(h, layer.bias, 0.1)
    loss = out.square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(f"step={step} loss={loss.item():.6f} compiled={compiled}")
