"""A recurrent net over sequences that get longer, without clipping: the gradient norm grows by orders of magnitude, and the loss with it.

cause: numerics.gradient-explosion
also: [numerics.lr-divergence]
not: [healthy.completed, numerics.bad-batch, numerics.fp16-overflow]
signature: ''
outcome: completed
step_basis: ordinal
runs_as: char_rnn.py
"""
import torch
from labkit import note, pick, seed_everything

seed_everything()
hidden = 64
wx = torch.nn.Parameter(torch.randn(8, hidden) * 0.3)
wh = torch.nn.Parameter(torch.eye(hidden) * pick([1.08, 1.09, 1.07]))
wo = torch.nn.Parameter(torch.randn(hidden, 8) * 0.1)
opt = torch.optim.SGD([wx, wh, wo], 1e-12)
for it in range(1, 121):
    x = torch.randn(16, 10 + it, 8) * 0.3
    h = torch.zeros(16, hidden)
    for t in range(x.shape[1]):
        h = torch.relu(x[:, t] @ wx + h @ wh)
    loss = ((h @ wo) - x[:, -1]).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    norm = torch.sqrt(sum(p.grad.pow(2).sum() for p in (wx, wh, wo)))
    opt.step()
    print(f"{it}/120 (seq {x.shape[1]}), train_loss = {loss.item():.6g}, grad norm = {norm.item():.4e}, time/batch = 0.04s")
    note("loss", it, float(f"{loss.item():.6g}"))
