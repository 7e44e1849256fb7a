import argparse
import time

import torch
from labkit import pick, seed_everything

parser = argparse.ArgumentParser()
parser.add_argument("--horizon", type=int, default=24)
parser.add_argument("--epochs", type=int, default=pick([400, 250, 300]))
args = parser.parse_args()
seed_everything()
series = torch.sin(torch.arange(3000) / 9) + torch.sin(torch.arange(3000) / 31) + 0.1 * torch.randn(3000)
windows = series.unfold(0, 96 + args.horizon, 8)
model = torch.nn.Sequential(torch.nn.Linear(96, 64), torch.nn.ReLU(), torch.nn.Linear(64, args.horizon))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
print(f"{len(windows)} windows, horizon {args.horizon}, {args.epochs} epochs")
for epoch in range(1, args.epochs + 1):
    begin, total = time.time(), 0.0
    for batch in windows[torch.randperm(len(windows))].split(16):
        loss = torch.nn.functional.l1_loss(model(batch[:, :96]), batch[:, 96:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(batch)
        time.sleep(0.05)
    print(f"epoch {epoch}/{args.epochs} - {time.time() - begin:.1f}s - mae: {total / len(windows):.4f}")
