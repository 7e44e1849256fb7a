"""A table of measurements has one row with a gap that became NaN: the batch that holds it makes loss and weights NaN for good.

cause: numerics.bad-batch
also: [numerics.nonfinite-unknown]
not: [numerics.lr-divergence, numerics.fp16-overflow, numerics.gradient-explosion, numerics.corrupt-weights]
signature: 'non-finite loss'
first_failure: 'non-finite loss|loss nan'
runs_as: train_sensors.py
"""

import csv
import io

import torch
from labkit import note, pick, seed_everything
from torch.utils.data import DataLoader, TensorDataset

seed_everything()
ROW, COLUMN = pick([(700, 3), (420, 1), (811, 4)])
NAMES = ["temperature", "humidity", "pressure", "wind", "light", "power"]
table = torch.randn(1024, 6)
table[:, 5] = table[:, :5] @ torch.tensor([0.5, -1.0, 0.3, 0.2, 0.9])
lines = [[f"{value:.4f}" for value in row] for row in table.tolist()]
lines[ROW][COLUMN] = "nan"
text = io.StringIO()
csv.writer(text).writerows([NAMES, *lines])

text.seek(0)
records = [[float(cell) for cell in row] for row in list(csv.reader(text))[1:]]
data = torch.tensor(records)
print(f"measurements.csv: {data.shape[0]} rows, columns {NAMES}")
loader = DataLoader(TensorDataset(torch.arange(len(data)), data), batch_size=32, shuffle=True)
model = torch.nn.Sequential(torch.nn.Linear(5, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
step, told = 0, 0
for epoch in range(3):
    for ids, rows in loader:
        step += 1
        x, y = rows[:, :5], rows[:, 5:]
        loss = torch.nn.functional.mse_loss(model(x), y)
        if not torch.isfinite(loss) and told < 3:
            told += 1
            broken = (~torch.isfinite(x)).any(1)
            print(f"WARNING non-finite loss at step {step}: inputs finite: {torch.isfinite(x).all().item()}, targets finite: {torch.isfinite(y).all().item()}, rows {ids[broken].tolist()}")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 2 == 0:
            print(f"epoch {epoch} step {step} loss {loss.item():.5f}")
            note("loss", step, float(f"{loss.item():.5f}"))
