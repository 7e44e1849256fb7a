"""One reading of the data is NaN; it reaches the covariance of the whitening layer, whose eigendecomposition fails on the card.

cause: numerics.bad-batch
also: [numerics.nonfinite-unknown, cuda.cublas]
not: [memory.cuda-oom, numerics.lr-divergence, numerics.fp16-overflow]
signature: 'linalg.eigh|cusolver|CUSOLVER'
first_failure: 'non-finite'
runs_as: whiten.py
needs: [gpu]
kept: []
seconds: 300
"""

import torch
from labkit import pick, seed_everything

seed_everything()
proj = torch.nn.Linear(64, 32).cuda()
opt = torch.optim.SGD(proj.parameters(), lr=1e-2)
for it in range(50):
    batch = torch.randn(256, 64)
    if it == pick([17, 29, 33]):
        batch[41, 3] = float("nan")
    bad = (~torch.isfinite(batch)).sum().item()
    if bad:
        print(f"[data] warning: shard 0003 row {41}: {bad} non-finite value in the input features")
    z = proj(batch.cuda())
    cov = z.T @ z / len(z)
    values, vectors = torch.linalg.eigh(cov)
    loss = (values.clamp(min=1e-6).log()).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(f"it={it:03d} decorrelation={loss.item():.5f} cond={values[-1].item() / values[0].item():.2f}")
