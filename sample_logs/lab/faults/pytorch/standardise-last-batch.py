"""Targets are standardised per batch; the last batch of the epoch holds a single sample, whose standard deviation is undefined, and the loss is NaN from then on.

cause: numerics.unstable-op
also: [numerics.bad-batch, numerics.nonfinite-unknown]
not: [numerics.lr-divergence, numerics.fp16-overflow, numerics.corrupt-weights, healthy.running]
signature: 'UserWarning: std[(][)]: degrees of freedom'
first_failure: 'Loss: nan'
runs_as: fit.py
"""

import torch
from labkit import note, pick, seed_everything
from torch.utils.data import DataLoader, TensorDataset

seed_everything()
batch = pick([32, 24, 40])
samples = 20 * batch + 1
x = torch.randn(samples, 10)
y = x.square().sum(1) * 40 + 300
loader = DataLoader(TensorDataset(x, y), batch_size=batch, shuffle=True)
net = torch.nn.Sequential(torch.nn.Linear(10, 64), torch.nn.ReLU(), torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1))
optimizer = torch.optim.AdamW(net.parameters(), lr=2e-3)
print(f"samples={samples} batch_size={batch} batches={len(loader)} drop_last={loader.drop_last}")
done = 0
for epoch in range(3):
    for i, (inputs, targets) in enumerate(loader):
        done += 1
        normalised = (targets - targets.mean()) / (targets.std() + 1e-6)
        loss = torch.nn.functional.smooth_l1_loss(net(inputs)[:, 0], normalised)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"Epoch [{epoch + 1}/3], Batch [{i + 1}/{len(loader)}], Size: {len(inputs)}, Loss: {loss.item():.4f}")
        note("loss", done, float(f"{loss.item():.4f}"))
