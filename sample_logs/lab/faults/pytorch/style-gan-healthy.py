"""A GAN in balance on a simple distribution: both losses waver around their equilibrium, the samples' spread grows to the data's.

cause: healthy.completed
also: [healthy.running]
not: [learning.collapse, numerics.lr-divergence, learning.plateau, numerics.loss-spike]
signature: ''
outcome: completed
runs_as: gan.py
"""
import torch
from labkit import pick, seed_everything

seed_everything()
G = torch.nn.Sequential(torch.nn.Linear(8, 64), torch.nn.ReLU(), torch.nn.Linear(64, 2))
D = torch.nn.Sequential(torch.nn.Linear(2, 64), torch.nn.LeakyReLU(0.2), torch.nn.Linear(64, 1))
og, od = torch.optim.Adam(G.parameters(), 1e-3, betas=(0.5, 0.99)), torch.optim.Adam(D.parameters(), pick([1e-3, 8e-4, 1.2e-3]), betas=(0.5, 0.99))
bce = torch.nn.functional.binary_cross_entropy_with_logits
print("Starting Training Loop...")
for i in range(1500):
    real = torch.randn(128, 2) @ torch.tensor([[1.0, 0.4], [0.0, 0.7]]) + 2
    fake = G(torch.randn(128, 8))
    ld = bce(D(real), torch.full((128, 1), 0.9)) + bce(D(fake.detach()), torch.zeros(128, 1))
    od.zero_grad()
    ld.backward()
    od.step()
    lg = bce(D(fake), torch.ones(128, 1))
    og.zero_grad()
    lg.backward()
    og.step()
    if i % 50 == 0:
        print("[%d/%d][%d/%d]\tLoss_D: %.4f\tLoss_G: %.4f\tD(x): %.4f\tD(G(z)): %.4f / %.4f" % (i // 300, 5, i % 300, 300, ld.item(), lg.item(), D(real).sigmoid().mean(), D(fake).sigmoid().mean(), D(G(torch.randn(128, 8))).sigmoid().mean()))
print("fake mean %s, real mean [2.0, 2.0]" % [round(v, 2) for v in G(torch.randn(2000, 8)).mean(0).tolist()])
print("Done.")
