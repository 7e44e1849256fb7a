"""A data file with an overflowed feature (inf): the loss is NaN from the batch that holds it; the loader had counted it in a warning.

cause: numerics.bad-batch
also: [numerics.nonfinite-unknown]
not: [numerics.lr-divergence, numerics.fp16-overflow, numerics.unstable-op, memory.cuda-oom]
signature: 'nan'
step_basis: ordinal
runs_as: tabular.py
"""
import logging
import torch
from labkit import note, pick, seed_everything
from torch import nn

logging.basicConfig(format="%(asctime)s %(levelname)-8s %(name)s  %(message)s", level=logging.INFO)
log = logging.getLogger("tabular")
seed_everything()
data = torch.randn(4096, 12)
data[pick([2711, 1999, 3104]), 7] = float("inf")
target = data[:, :3].sum(1)
log.warning("read 4096 rows x 12 columns from part-0007.parquet; column 'ratio_7': max=inf (1 value)")
net = nn.Sequential(nn.Linear(12, 64), nn.SiLU(), nn.Linear(64, 1))
opt = torch.optim.Adam(net.parameters(), 2e-3)
for epoch in range(2):
    for i in range(64):
        rows = slice(64 * i, 64 * i + 64)
        loss = (net(data[rows]).squeeze() - target[rows]).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if i % 2 == 0:
            log.info("epoch=%d batch=%d rows=%d-%d mse=%.5f", epoch, i, 64 * i, 64 * i + 63, loss.item())
            note("loss", 64 * epoch + i, float(f"{loss.item():.5f}"))
