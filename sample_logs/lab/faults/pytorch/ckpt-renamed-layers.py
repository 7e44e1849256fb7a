r"""The code was refactored after the checkpoint was written: some layers have other names, some are new; the resume is strict.

cause: checkpoint.key-mismatch
step_basis: epoch
also: [checkpoint.resume-mismatch]
not: [checkpoint.shape-mismatch, checkpoint.corrupt, code.user-exception]
signature: 'RuntimeError: Error\(s\) in loading state_dict for'
runs_as: train_vae.py
launch: |
  python train_vae.py --version 1 --epochs 3 --out run1
  echo
  python train_vae.py --version 2 --epochs 6 --out run2 --resume run1/epoch3.ckpt
"""

import argparse
import os

import torch
from labkit import note, pick, seed_everything
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--version", type=int, default=2)
parser.add_argument("--epochs", type=int, default=10)
parser.add_argument("--out", default="run")
parser.add_argument("--resume")
args = parser.parse_args()
seed_everything()
NAMES = pick([{"fc_mu": "to_mean", "fc_var": "to_logvar"}, {"decoder": "generator"}, {"encoder": "enc", "decoder": "dec"}])


class VAE(nn.Module):
    def __init__(self, version):
        super().__init__()
        self.names = NAMES if version == 2 else {}
        for name, layer in {"encoder": nn.Sequential(nn.Linear(32, 48), nn.SiLU()), "fc_mu": nn.Linear(48, 6), "fc_var": nn.Linear(48, 6), "decoder": nn.Sequential(nn.Linear(6, 48), nn.SiLU(), nn.Linear(48, 32))}.items():
            setattr(self, self.names.get(name, name), layer)
        if version == 2:
            self.norm = nn.LayerNorm(6)

    def part(self, name):
        return getattr(self, self.names.get(name, name))

    def forward(self, x):
        h = self.part("encoder")(x)
        mean, logvar = self.part("fc_mu")(h), self.part("fc_var")(h)
        z = mean + torch.randn_like(mean) * (0.5 * logvar).exp()
        return self.part("decoder")(self.norm(z) if hasattr(self, "norm") else z), mean, logvar


model = VAE(args.version)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
start = 0
os.makedirs(args.out, exist_ok=True)
print(args)
if args.resume:
    checkpoint = torch.load(args.resume)
    print(f"resuming {args.resume} at epoch {checkpoint['epoch']}")
    model.load_state_dict(checkpoint["state_dict"])
    optimizer.load_state_dict(checkpoint["optimizer"])
    start = checkpoint["epoch"]
data = torch.rand(640, 32)
for epoch in range(start + 1, args.epochs + 1):
    for x in data.split(64):
        out, mean, logvar = model(x)
        loss = (out - x).square().sum(1).mean() - 0.5 * (1 + logvar - mean.square() - logvar.exp()).sum(1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"====> Epoch: {epoch} Average loss: {loss.item():.4f}")
    note("loss", epoch, round(loss.item(), 4))
    torch.save({"state_dict": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}, f"{args.out}/epoch{epoch}.ckpt")
