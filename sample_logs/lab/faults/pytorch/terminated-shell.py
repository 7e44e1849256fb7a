"""Somebody sends SIGTERM to the training process; only the exit code of the job script tells of it.

cause: scheduler.terminated
not: [scheduler.preempted, memory.host-oom, hang.stalled, healthy.completed]
signature: 'exited with code 143'
runs_as: train_vae.py
launch: |
  python train_vae.py &
  while [ ! -e epoch3.pt ]; do sleep 0.2; done
  kill -TERM $!
  wait $!
  status=$?
  echo "train_vae.py exited with code $status"
  exit $status
seconds: 90
"""

import torch
from labkit import pick, seed_everything

seed_everything()
BETA = pick([1.0, 0.5, 4.0])
data = (torch.rand(2048, 64) < torch.rand(2048, 1)).float()
enc, mu, logvar, dec = torch.nn.Linear(64, 48), torch.nn.Linear(48, 4), torch.nn.Linear(48, 4), torch.nn.Sequential(torch.nn.Linear(4, 48), torch.nn.ReLU(), torch.nn.Linear(48, 64))
params = [p for m in (enc, mu, logvar, dec) for p in m.parameters()]
opt = torch.optim.Adam(params, lr=1e-3)
print(f"beta-VAE, beta={BETA}, {sum(p.numel() for p in params)} parameters, {len(data)} samples")
for epoch in range(1, 100000):
    total = 0.0
    for batch in data[torch.randperm(len(data))].split(16):
        hidden = torch.relu(enc(batch))
        mean, log = mu(hidden), logvar(hidden)
        code = mean + torch.randn_like(mean) * (log / 2).exp()
        rec = torch.nn.functional.binary_cross_entropy_with_logits(dec(code), batch, reduction="sum") / len(batch)
        kld = -0.5 * (1 + log - mean.pow(2) - log.exp()).sum(1).mean()
        loss = rec + BETA * kld
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(batch)
    print(f"====> Epoch: {epoch} Average loss: {total / len(data):.4f} (rec {rec.item():.3f}, kld {kld.item():.3f})")
    if epoch % 3 == 0:
        torch.save(dec.state_dict(), f"epoch{epoch}.pt")
        print(f"saved epoch{epoch}.pt")
