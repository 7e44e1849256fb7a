r"""Three rank logs where one rank's loss turns NaN a step before the others' and nothing printed tells why (its shard holds one missing value, which no line shows).

cause: numerics.nonfinite-unknown
also: [numerics.bad-batch, numerics.hardware-corruption]
not: [numerics.lr-divergence, numerics.fp16-overflow, distributed.rank-desync]
signature: 'nan'
first_failure: 'local loss nan'
first_failure_source: 'worker1\.txt'
runs_as: ddp_vae.py
launch: |
  torchrun --standalone --nproc-per-node 3 --redirects 3 --log-dir elastic ddp_vae.py > launcher.txt 2>&1
  code=$?
  for r in 0 1 2; do cat elastic/*/attempt_0/$r/stdout.log elastic/*/attempt_0/$r/stderr.log > $LAB_OUT/worker$r.txt; done
  exit $code
"""

from datetime import timedelta

import torch
import torch.distributed as dist
from labkit import SEED, pick
from torch import nn

dist.init_process_group("gloo", timeout=timedelta(seconds=60))
rank = dist.get_rank()
torch.manual_seed(SEED * 31 + rank)
pixels = torch.rand(pick([400, 480, 560]), 64)
where, row = pick([(1, 211), (1, 333), (1, 249)])
if rank == where:
    pixels[row, 7] = float("nan")


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = nn.Linear(64, 32)
        self.mean, self.logvar = nn.Linear(32, 8), nn.Linear(32, 8)
        self.decode = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 64))

    def forward(self, x):
        hidden = torch.relu(self.encode(x))
        mean, logvar = self.mean(hidden), self.logvar(hidden)
        z = mean + torch.randn_like(mean) * (0.5 * logvar).exp()
        reconstruction = self.decode(z)
        kl = -0.5 * (1 + logvar - mean.square() - logvar.exp()).sum(1).mean()
        return nn.functional.mse_loss(reconstruction, x, reduction="sum") / len(x) + 0.1 * kl


vae = nn.parallel.DistributedDataParallel(VAE())
optimizer = torch.optim.Adam(vae.parameters(), lr=1e-3)
print(f"worker {rank}: {len(pixels)} images, lr 0.001, batch 20")
for iteration, batch in enumerate(pixels.split(20)):
    optimizer.zero_grad()
    loss = vae(batch)
    loss.backward()
    optimizer.step()
    mean = loss.detach().clone()
    dist.all_reduce(mean)
    print(f"iter {iteration:3d} | local loss {loss.item():.4f} | mean loss {mean.item() / dist.get_world_size():.4f}")
print("training finished, saving vae.pt")
if rank == 0:
    torch.save(vae.module.state_dict(), "vae.pt")
dist.destroy_process_group()
