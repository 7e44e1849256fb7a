"""A Gaussian process without jitter: the kernel matrix of nearly equal points is not positive definite in float32.

cause: numerics.unstable-op
also: [code.user-exception]
not: [memory.cuda-oom, cuda.cublas, numerics.lr-divergence]
signature: 'not positive-definite'
runs_as: gp_fit.py
kept: []
"""
import torch
from labkit import pick, seed_everything

seed_everything()
x = torch.linspace(0, 1, 200)[:, None]
y = torch.sin(12 * x).squeeze()
log_scale, log_noise = torch.nn.Parameter(torch.tensor(-3.0)), torch.nn.Parameter(torch.tensor(-1.0))
opt = torch.optim.Adam([log_scale, log_noise], lr=pick([0.1, 0.12, 0.15]))
for i in range(200):
    K = torch.exp(-torch.cdist(x, x).pow(2) / (2 * log_scale.exp() ** 2)) + (log_noise.exp() ** 6) * torch.eye(200)
    L = torch.linalg.cholesky(K)
    alpha = torch.cholesky_solve(y[:, None], L)
    nll = 0.5 * (y @ alpha.squeeze()) + L.diagonal().log().sum()
    opt.zero_grad()
    nll.backward()
    opt.step()
    print("Iter %d/200 - Loss: %.3f   lengthscale: %.3f   noise: %.3f" % (i + 1, nll.item(), log_scale.exp().item(), log_noise.exp().item()))
