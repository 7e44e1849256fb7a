"""A distance of zero under a square root: anomaly detection names the backward function that first returns NaN.

cause: numerics.unstable-op
also: [numerics.nonfinite-unknown]
not: [numerics.lr-divergence, numerics.fp16-overflow, numerics.bad-batch]
signature: "returned nan values in its"
runs_as: triplet.py
"""
import torch
from labkit import note, pick, seed_everything

seed_everything()
torch.autograd.set_detect_anomaly(True)
net = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 16))
opt = torch.optim.Adam(net.parameters(), 1e-3)
print("epoch,step,triplet_loss,active")
for step in range(1, 60):
    a, p, n = (torch.randn(32, 32) for _ in range(3))
    if step == pick([33, 21, 45]):
        p[4] = a[4]
    fa, fp, fn = net(a), net(p), net(n)
    dp, dn = (fa - fp).pow(2).sum(1).sqrt(), (fa - fn).pow(2).sum(1).sqrt()
    loss = (dp - dn + 0.3).relu().mean() + 0.01 * dp.mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(f"0,{step},{loss.item():.5f},{(dp - dn + 0.3 > 0).float().mean().item():.3f}")
    note("loss", step, float(f"{loss.item():.5f}"))
