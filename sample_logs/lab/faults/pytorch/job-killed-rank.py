r"""Three ranks with redirected streams; one is killed by SIGKILL from outside in the middle of an epoch. Its own log simply ends, the others lose their peer, the launcher knows the signal only.

cause: distributed.peer-failure
also: [unknown.no-cause-shown, memory.host-oom, scheduler.terminated]
not: [distributed.nccl-network, code.user-exception, numerics.nonfinite-unknown]
signature: 'failed \(exitcode: -9\)'
first_failure_source: 'torchrun\.log'
note: 'nothing shows who sent SIGKILL (here: a kill from outside, not the OOM killer)'
runs_as: train_gan.py
launch: |
  torchrun --standalone --nproc-per-node 3 -r 3 --log-dir logs train_gan.py > torchrun.log 2>&1 &
  agent=$!
  until grep -qs 'iter 12' logs/*/attempt_0/1/stdout.log; do sleep 0.1; done
  kill -9 $(sed -n 's/.*pid=\([0-9]*\).*/\1/p' logs/*/attempt_0/1/stdout.log)
  wait $agent
  code=$?
  for r in 0 1 2; do cat logs/*/attempt_0/$r/std*.log > $LAB_OUT/rank$r.log; done
  cp torchrun.log $LAB_OUT/
  exit $code
"""

import os
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from labkit import SEED, pick
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo", timeout=timedelta(seconds=60))
rank = dist.get_rank()
print(f"rank={rank} pid={os.getpid()} torch={torch.__version__} latent={pick([4, 8, 6])}")
torch.manual_seed(SEED + rank)
latent = pick([4, 8, 6])
generator = DDP(nn.Sequential(nn.Linear(latent, 32), nn.LeakyReLU(0.2), nn.Linear(32, 2)))
critic = DDP(nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1)), broadcast_buffers=False)
step_g = torch.optim.Adam(generator.parameters(), lr=2e-4, betas=(0.5, 0.9))
step_d = torch.optim.Adam(critic.parameters(), lr=2e-4, betas=(0.5, 0.9))
bce = nn.functional.binary_cross_entropy_with_logits
for iteration in range(1, 400):
    angle = torch.rand(64) * 6.2832
    real = torch.stack([angle.cos(), angle.sin()], 1)
    fake = generator(torch.randn(64, latent))
    scores = critic(torch.cat([real, fake.detach()]))
    loss_d = bce(scores, torch.cat([torch.ones(64, 1), torch.zeros(64, 1)]))
    step_d.zero_grad()
    loss_d.backward()
    step_d.step()
    loss_g = bce(critic(fake), torch.ones(64, 1))
    step_g.zero_grad()
    loss_g.backward()
    step_g.step()
    print(f"iter {iteration} loss_d={loss_d.item():.4f} loss_g={loss_g.item():.4f}")
    time.sleep(0.25)
