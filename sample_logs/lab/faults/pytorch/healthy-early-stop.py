"""A regression that overfits a little and is ended by early stopping, with the best weights put back: a normal end, though warnings and counters look like trouble.

cause: healthy.completed
also: [healthy.running]
not: [learning.plateau, numerics.lr-divergence, scheduler.terminated, numerics.unstable-op]
outcome: completed
environment: transformers
runs_as: fit_tabular.py
step_basis: epoch
"""

import copy
import warnings

import torch
from labkit import note, pick, seed_everything
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from tqdm import trange

seed_everything()
warnings.simplefilter("always")
PATIENCE = pick([5, 4, 6])
x = torch.randn(240, 12)
y = (x[:, :2].sum(1) + 0.8 * torch.randn(240))[:, None]
train = DataLoader(TensorDataset(x[:120], y[:120]), batch_size=16, shuffle=True, num_workers=0)
model = nn.Sequential(nn.Linear(12, 128), nn.ReLU(), nn.Dropout(0.1), nn.Linear(128, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=pick([5e-3, 4e-3, 6e-3]))
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=2)
best, counter, kept = float("inf"), 0, None
bar = trange(1, 101, desc="fit", mininterval=3600)
for epoch in bar:
    model.train()
    total = 0.0
    for a, b in train:
        loss = nn.functional.mse_loss(model(a), b)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() / len(train)
    model.eval()
    with torch.no_grad():
        seen = nn.functional.mse_loss(model(x[120:]), y[120:]).item()
    scheduler.step(seen)
    bar.write(f"epoch {epoch:3d}: train_loss={total:.4f} val_loss={seen:.4f} lr={optimizer.param_groups[0]['lr']:.2e}")
    note("loss", epoch, float(f"{total:.4f}"))
    note("eval_loss", epoch, float(f"{seen:.4f}"))
    note("learning_rate", epoch, float(f"{optimizer.param_groups[0]['lr']:.2e}"))
    if seen < best - 1e-4:
        best, counter, kept = seen, 0, copy.deepcopy(model.state_dict())
    else:
        counter += 1
        bar.write(f"EarlyStopping counter: {counter} out of {PATIENCE}")
        if counter >= PATIENCE:
            bar.write(f"Early stopping at epoch {epoch}; best val_loss {best:.4f}")
            break
bar.close()
model.load_state_dict(kept)
print("restored best weights, saved to model.pt")
torch.save(model.state_dict(), "model.pt")
