"""A GAN steps its discriminator between the generator's forward and backward pass, so weights that backward needs have changed; anomaly detection is on.

cause: code.autograd-inplace
also: []
not: [code.autograd-no-grad, learning.collapse, numerics.gradient-explosion]
signature: 'RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation'
runs_as: gan.py
launch: python gan.py --anomaly
"""

import argparse
import sys

import torch
from labkit import note, pick, seed_everything
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--anomaly", action="store_true")
parser.add_argument("--latent", type=int, default=pick([16, 8, 32]))
parser.add_argument("--warmup", type=int, default=pick([20, 12, 30]), help="steps of the discriminator alone")
opt = parser.parse_args()
seed_everything()
torch.autograd.set_detect_anomaly(opt.anomaly)
G = nn.Sequential(nn.Linear(opt.latent, 64), nn.ReLU(), nn.Linear(64, 2))
D = nn.Sequential(nn.Linear(2, 64), nn.LeakyReLU(0.2), nn.Linear(64, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1))
optim_g, optim_d = torch.optim.Adam(G.parameters(), lr=2e-4, betas=(0.5, 0.999)), torch.optim.Adam(D.parameters(), lr=2e-4, betas=(0.5, 0.999))
bce = nn.BCEWithLogitsLoss()
ones, zeros = torch.ones(128, 1), torch.zeros(128, 1)
print(opt)
print(G, D, sep="\n", file=sys.stderr)


def real_batch():
    angle = torch.rand(128) * 6.2832
    return torch.stack([angle.cos(), angle.sin()], 1) * 2


for step in range(1, 501):
    fake = G(torch.randn(128, opt.latent))
    d_fake = D(fake)
    loss_g = bce(d_fake, ones)
    loss_d = bce(D(real_batch()), ones) + bce(D(fake.detach()), zeros)
    optim_d.zero_grad()
    loss_d.backward(retain_graph=True)
    optim_d.step()
    if step > opt.warmup:
        optim_g.zero_grad()
        loss_g.backward()
        optim_g.step()
    print(f"[{step}/500] Loss_D: {loss_d.item():.4f} Loss_G: {loss_g.item():.4f}", flush=True)
    note("Loss_D", step, round(loss_d.item(), 4))
    note("Loss_G", step, round(loss_g.item(), 4))
