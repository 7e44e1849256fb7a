r"""scikit-learn and scipy of the numpy 1 days beside numpy 2: the training works, the import for the final score fails.

cause: environment.abi-mismatch
step_basis: epoch
also: [environment.version-incompatible]
not: [environment.missing-package, code.user-exception, data.schema]
signature: 'ImportError: numpy\.core\.multiarray failed to import'
first_failure: '_ARRAY_API not found'
environment: numpy-abi
runs_as: embed.py
launch: python embed.py
seeds: [0, 1]
"""

import torch
import torch.nn.functional as F
from labkit import note, pick, seed_everything

seed_everything()
dim, temperature = pick([(16, 0.1), (32, 0.2)])
encoder = torch.nn.Sequential(torch.nn.Linear(20, 64), torch.nn.ReLU(), torch.nn.Linear(64, dim))
optimizer = torch.optim.Adam(encoder.parameters(), lr=2e-3)
centres = torch.randn(6, 20) * 2
kinds = torch.randint(0, 6, (600,))
points = centres[kinds] + torch.randn(600, 20)
print(f"contrastive training: {len(points)} points, dim {dim}, temperature {temperature}")
for epoch in range(1, 9):
    total = 0.0
    for rows in torch.randperm(600).split(60):
        a = F.normalize(encoder(points[rows] + 0.1 * torch.randn(len(rows), 20)), dim=1)
        b = F.normalize(encoder(points[rows] + 0.1 * torch.randn(len(rows), 20)), dim=1)
        loss = F.cross_entropy(a @ b.T / temperature, torch.arange(len(rows)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch:2d} | nt-xent {total / 10:.4f}")
    note("loss", epoch, round(total / 10, 4))
print("k-nearest-neighbour score ...")
from sklearn.neighbors import KNeighborsClassifier

with torch.no_grad():
    z = encoder(points).numpy()
print("score", KNeighborsClassifier(5).fit(z[:400], kinds[:400]).score(z[400:], kinds[400:]))
