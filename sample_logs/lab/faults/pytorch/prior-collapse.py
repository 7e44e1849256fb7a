"""A variational autoencoder with a weight on the prior that is far too high: the latent code carries nothing, the decoder gives one constant for every input and the loss stands still at the variance of the data.

cause: learning.collapse
also: [learning.plateau]
not: [healthy.completed, healthy.running, numerics.lr-divergence, numerics.loss-spike]
signature: 'kl 0[.]000'
runs_as: train_vae.py
"""

from datetime import datetime

import torch
from labkit import note, pick, seed_everything
from torch import nn

seed_everything()
BETA, LATENT = pick([(20.0, 8), (50.0, 16), (30.0, 4)])


def say(*parts):
    print(f"[{datetime.now().isoformat(timespec='seconds')}]", *parts)


directions = torch.randn(6, 40)
x = torch.tanh(torch.randn(3000, 6) @ directions)
encoder = nn.Sequential(nn.Linear(40, 64), nn.ReLU(), nn.Linear(64, 2 * LATENT))
decoder = nn.Sequential(nn.Linear(LATENT, 64), nn.ReLU(), nn.Linear(64, 40))
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=pick([3e-3, 2e-3, 4e-3]))
say(f"vae: inputs 40 latent {LATENT} beta {BETA}; variance of the data {x.var(0).mean().item():.4f}")
step = 0
for epoch in range(1, 11):
    for rows in torch.randperm(3000).split(100):
        step += 1
        mean, logvar = encoder(x[rows]).chunk(2, -1)
        decoded = decoder(mean + torch.randn_like(mean) * (logvar / 2).exp())
        recon = (decoded - x[rows]).square().mean()
        kl = (mean.square() + logvar.exp() - 1 - logvar).mean() / 2
        loss = recon + BETA * kl
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 6 == 0:
            say(f"epoch {epoch} step {step} loss {loss.item():.4f} recon {recon.item():.4f} kl {kl.item():.6f}")
            note("loss", step, float(f"{loss.item():.4f}"))
            note("recon", step, float(f"{recon.item():.4f}"))
            note("kl", step, float(f"{kl.item():.6f}"))
    with torch.no_grad():
        mean = encoder(x).chunk(2, -1)[0]
        out = decoder(mean)
    say(f"epoch {epoch} active units {(mean.var(0) > 0.01).sum().item()}/{LATENT}, std of outputs over samples {out.std(0).mean().item():.5f}")
