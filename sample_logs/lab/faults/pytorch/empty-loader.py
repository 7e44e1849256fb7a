"""Fewer samples than one batch, and the loader drops the last one: the epoch has no batch, and its mean loss is a division by zero.

cause: data.empty
also: [code.user-exception]
not: [numerics.unstable-op, data.missing-file, data.exhausted]
signature: 'ZeroDivisionError: (float )?division by zero'
runs_as: finetune.py
step_basis: epoch
"""

import torch
from labkit import note, pick, seed_everything
from torch.utils.data import DataLoader, TensorDataset, random_split

CONFIG = {"batch_size": pick([64, 128, 32]), "epochs": 3, "lr": 1e-3, "holdout": pick([0.1, 0.05, 0.08]), "drop_last": True, "hidden": 48}


def make_data(count):
    x = torch.randn(count, 12)
    return TensorDataset(x, (x[:, :3].sum(1) > 0).long())


def epoch_of(model, loader, optimizer=None):
    total = 0.0
    for x, y in loader:
        loss = torch.nn.functional.cross_entropy(model(x), y)
        if optimizer is not None:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        total += loss.item()
    return total / len(loader)


def main():
    seed_everything()
    print("config:", CONFIG)
    everything = make_data(CONFIG["batch_size"] * 9)
    holdout = int(len(everything) * CONFIG["holdout"])
    train, valid = random_split(everything, [len(everything) - holdout, holdout])
    loaders = {name: DataLoader(part, CONFIG["batch_size"], drop_last=CONFIG["drop_last"]) for name, part in (("train", train), ("valid", valid))}
    for name, loader in loaders.items():
        print(f"{name:>6}: {len(loader.dataset)} samples, {len(loader)} batches")
    model = torch.nn.Sequential(torch.nn.Linear(12, CONFIG["hidden"]), torch.nn.ReLU(), torch.nn.Linear(CONFIG["hidden"], 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=CONFIG["lr"])
    for epoch in range(1, CONFIG["epochs"] + 1):
        train_loss = epoch_of(model, loaders["train"], optimizer)
        print(f"epoch {epoch}: train loss {train_loss:.4f}")
        note("loss", epoch, float(f"{train_loss:.4f}"))
        with torch.no_grad():
            print(f"epoch {epoch}: valid loss {epoch_of(model, loaders['valid']):.4f}")


main()
