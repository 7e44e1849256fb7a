r"""Two accelerate processes under torchrun; the checkpoints of some steps fill the small disk, whose free space is printed, and rank 1 waits for rank 0.

environment: transformers
cause: io.disk-full
also: [checkpoint.save-failed]
not: [distributed.peer-failure, io.permission, memory.host-oom]
signature: 'RuntimeError: .*(unexpected pos|file write failed)|No space left on device'
first_failure: 'RuntimeError: .*(unexpected pos|file write failed)|No space left on device'
first_failure_source: 'rank0\.err'
needs: [tmpfs]
runs_as: pretrain.py
launch: |
  unshare -m bash -c '
  mkdir ckpt && mount -t tmpfs -o size=3m ckpt ckpt
  torchrun --standalone --nproc-per-node 2 --redirects 3 --log-dir logs pretrain.py --save-to ckpt > agent.log 2>&1'
  code=$?
  for r in 0 1; do cp logs/*/attempt_0/$r/stdout.log $LAB_OUT/rank$r.out; cp logs/*/attempt_0/$r/stderr.log $LAB_OUT/rank$r.err; done
  cp agent.log $LAB_OUT/
  exit $code
"""

import argparse
import shutil

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from labkit import SEED, pick
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--save-to", default="ckpt")
parser.add_argument("--save-steps", type=int, default=pick([5, 8, 6]))
parser.add_argument("--width", type=int, default=pick([200, 220, 240]))
args = parser.parse_args()
accelerator = Accelerator(cpu=True)
set_seed(SEED)
model = nn.Sequential(nn.Linear(64, args.width), nn.ReLU(), nn.Linear(args.width, args.width), nn.ReLU(), nn.Linear(args.width, 64))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
model, optimizer = accelerator.prepare(model, optimizer)
print(f"process {accelerator.process_index}: {sum(p.numel() for p in model.parameters()):,} parameters", flush=True)
for step in range(1, 61):
    x = torch.randn(16, 64)
    loss = nn.functional.mse_loss(model(x), x)
    accelerator.backward(loss)
    optimizer.step()
    optimizer.zero_grad()
    print(f"process {accelerator.process_index}: step {step} loss {loss.item():.4f}", flush=True)
    if step % args.save_steps == 0:
        accelerator.print(f"saving {args.save_to}/step_{step}.pt, {shutil.disk_usage(args.save_to).free / 2**20:.2f} MiB free")
        accelerator.save({"model": accelerator.get_state_dict(model), "optimizer": optimizer.state_dict(), "step": step}, f"{args.save_to}/step_{step}.pt")
        accelerator.wait_for_everyone()
accelerator.end_training()
