r"""An extension is to be compiled when training starts, but ninja is not on the PATH of the job.

cause: environment.extension-build
also: [environment.missing-package]
not: [environment.abi-mismatch, environment.cuda-toolkit, code.user-exception]
signature: 'RuntimeError: Ninja is required to load C\+\+ extensions'
runs_as: main.py
launch: |
  python=$(command -v python)
  mkdir -p bin && for tool in gcc g++ c++ as ld; do ln -sf $(command -v $tool) bin/; done
  PATH=$PWD/bin $python main.py --fused
needs: [compiler]
"""

import argparse
import sys
import time

import torch
from labkit import note, pick, seed_everything

SOURCE = """
torch::Tensor swish(torch::Tensor x) { return x * torch::sigmoid(x * BETA); }
""".replace("BETA", str(pick([1.0, 1.5, 0.8])))

parser = argparse.ArgumentParser()
parser.add_argument("--fused", action="store_true")
parser.add_argument("--warmup-steps", type=int, default=pick([4, 8, 2]))
args = parser.parse_args()
seed_everything()
print(f"{sys.argv[0]}: {args}")
model = torch.nn.Sequential(torch.nn.Linear(10, 40), torch.nn.SiLU(), torch.nn.Linear(40, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)


def train(steps, start=0):
    for step in range(start, start + steps):
        began = time.perf_counter()
        x = torch.rand(64, 10)
        loss = (model(x) - x.max(1, keepdim=True).values).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step} loss {loss.item():.4f} {1000 * (time.perf_counter() - began):.1f} ms")
        note("loss", step, round(loss.item(), 4))


train(args.warmup_steps)
if args.fused:
    from torch.utils.cpp_extension import load_inline

    print("building the fused activation")
    fused = load_inline(name="fused_swish", cpp_sources=SOURCE, functions=["swish"])
    train(100, args.warmup_steps)
