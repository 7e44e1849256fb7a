"""A VAE whose KL weight grows from 0: the total rises for a while by design, the reconstruction falls on.

cause: healthy.completed
also: [healthy.running]
not: [numerics.lr-divergence, learning.collapse, numerics.loss-spike, learning.plateau]
signature: ''
outcome: completed
step_basis: ordinal
runs_as: vae.py
"""
import torch
from labkit import note, pick, seed_everything
from torch import nn

seed_everything()
enc, dec = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 16)), nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 32))
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters()], pick([2e-3, 3e-3, 1e-3]))
basis = torch.randn(4, 32)
for epoch in range(1, 41):
    beta = min(1.0, epoch / 25) * 0.5
    for _ in range(30):
        x = torch.randn(64, 4) @ basis
        mu, logvar = enc(x).chunk(2, 1)
        z = mu + torch.randn_like(mu) * (logvar / 2).exp()
        recon = (dec(z) - x).pow(2).sum(1).mean()
        kl = (-0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(1)).mean()
        loss = recon + beta * kl
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(f"====> Epoch: {epoch} Average loss: {loss.item():.4f} (recon {recon.item():.4f}, kl {kl.item():.4f}, beta {beta:.2f})")
    note("loss", epoch, float(f"{loss.item():.4f}"))
print("saved results/vae_40.pt")
