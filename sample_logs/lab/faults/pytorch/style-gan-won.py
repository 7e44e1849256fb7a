"""A GAN whose discriminator wins: its loss goes to 0, the generator's climbs and its samples stay alike.

cause: learning.collapse
also: [learning.plateau]
not: [numerics.lr-divergence, healthy.completed]
signature: ''
outcome: completed
runs_as: gan.py
"""
import torch
from labkit import pick, seed_everything

seed_everything()
G = torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.ReLU(), torch.nn.Linear(64, 2))
D = torch.nn.Sequential(torch.nn.Linear(2, 128), torch.nn.LeakyReLU(0.2), torch.nn.Linear(128, 128), torch.nn.LeakyReLU(0.2), torch.nn.Linear(128, 1))
og, od = torch.optim.Adam(G.parameters(), 1e-5), torch.optim.Adam(D.parameters(), pick([2e-3, 3e-3, 1e-3]))
bce = torch.nn.functional.binary_cross_entropy_with_logits
for i in range(1000):
    real = torch.nn.functional.one_hot(torch.randint(0, 2, (128,)), 2).float() * 8 + 0.05 * torch.randn(128, 2)
    fake = G(torch.randn(128, 16))
    ld = bce(D(real), torch.ones(128, 1)) + bce(D(fake.detach()), torch.zeros(128, 1))
    od.zero_grad()
    ld.backward()
    od.step()
    lg = bce(D(fake), torch.ones(128, 1))
    og.zero_grad()
    lg.backward()
    og.step()
    if i % 20 == 0:
        print(f"[Epoch {i // 200}/5] [Batch {i % 200}/200] [D loss: {ld.item():.6f}] [G loss: {lg.item():.6f}] [D(x): {D(real).sigmoid().mean().item():.4f}] [D(G(z)): {D(fake).sigmoid().mean().item():.4f}]")
