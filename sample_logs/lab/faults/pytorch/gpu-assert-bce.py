"""A GAN's discriminator has no sigmoid, and BCELoss gets its raw scores: the loss kernel asserts that inputs lie between 0 and 1.

cause: cuda.device-side-assert
also: [code.user-exception]
not: [memory.cuda-oom, cuda.illegal-memory-access, numerics.nonfinite-unknown]
signature: 'device-side assert triggered'
first_failure: 'Assertion .* failed'
runs_as: dcgan.py
needs: [gpu]
kept: []
seconds: 300
"""

import torch
import torch.nn as nn
from labkit import pick, seed_everything

seed_everything()
print("Random Seed: ", 999)
device = torch.device("cuda:0")
netG = nn.Sequential(nn.ConvTranspose2d(100, 64, 4), nn.BatchNorm2d(64), nn.ReLU(), nn.ConvTranspose2d(64, 3, 4, 4), nn.Tanh()).to(device)
netD = nn.Sequential(nn.Conv2d(3, pick([32, 64, 48]), 4, 4), nn.LeakyReLU(0.2), nn.Flatten(), nn.LazyLinear(1)).to(device)
print(netG)
print(netD)
criterion = nn.BCELoss()
print("Starting Training Loop...")
for i in range(10):
    real = torch.randn(64, 3, 16, 16, device=device)
    errD_real = criterion(netD(real).view(-1), torch.full((64,), 1.0, device=device))
    errD_real.backward()
    print("[0/5][%d/1583]\tLoss_D: %.4f" % (i, errD_real.item()))
