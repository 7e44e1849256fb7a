"""One record of the data holds a value twenty orders of magnitude too large (a unit gone wrong): its batch squares it beyond float32 and the weights are NaN from then on.

cause: numerics.bad-batch
also: [numerics.gradient-explosion, numerics.nonfinite-unknown]
not: [numerics.lr-divergence, numerics.fp16-overflow, numerics.corrupt-weights, numerics.labels-all-masked]
signature: 'loss=(inf|nan)'
environment: transformers
runs_as: train_prices.py
note: the largest input of each batch stands beside its loss.
"""

import torch
from labkit import note, pick, seed_everything
from torch import nn
from tqdm import tqdm

seed_everything()
size = pick([2000, 1600, 2400])
area, rooms, age = torch.rand(size) * 150 + 30, torch.randint(1, 7, (size,)).float(), torch.rand(size) * 80
price = area * 3 + rooms * 20 - age
features = torch.stack([area, rooms, age], 1)
features[pick([1300, 900, 1700]), pick([0, 2, 0])] *= 10.0 ** pick([22, 24, 23])
middle, spread = features.median(0).values, torch.tensor([43.0, 1.7, 23.0])
features = (features - middle) / spread
model = nn.Sequential(nn.Linear(3, 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
tqdm.write(f"{size} flats, 3 features, scaled by median and spread")
bar = tqdm(total=2 * (size // 25), desc="training", mininterval=0, miniters=1)
for step, rows in enumerate([*torch.arange(size).split(25), *torch.arange(size).split(25)], 1):
    x = features[rows]
    loss = nn.functional.mse_loss(model(x)[:, 0] * 100, price[rows]) / 1e4
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    bar.set_postfix(loss=f"{loss.item():.4f}", x_max=f"{x.abs().max().item():.3g}", refresh=False)
    bar.update(1)
    note("loss", step, float(f"{loss.item():.4f}"))
bar.close()
