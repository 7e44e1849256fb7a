"""The script looks up a metric under a name its own evaluation never wrote.

cause: code.user-exception
also: [data.schema]
not: [checkpoint.key-mismatch, config.trainer, config.registry]
signature: '^KeyError: '
runs_as: train.py
"""

import json

import torch
from labkit import note, pick, seed_everything
from torch import nn

seed_everything()
CONFIG = {"hidden": pick([32, 16, 64]), "epochs": 5, "monitor": pick(["val_f1", "valid/acc", "val_auc"]), "patience": 2, "lr": pick([0.01, 0.03, 0.005])}
print(json.dumps(CONFIG, indent=2))
x = torch.randn(800, 9)
y = (x[:, 0] * x[:, 1] > 0).long()
model = nn.Sequential(nn.Linear(9, CONFIG["hidden"]), nn.ReLU(), nn.Linear(CONFIG["hidden"], 2))
optimizer = torch.optim.Adam(model.parameters(), CONFIG["lr"])
best, waited = -1.0, 0


def evaluate():
    with torch.no_grad():
        logits = model(x[600:])
    return {"val_loss": nn.functional.cross_entropy(logits, y[600:]).item(), "val_acc": (logits.argmax(1) == y[600:]).float().mean().item()}


for epoch in range(CONFIG["epochs"]):
    for step, rows in enumerate(torch.randperm(600).split(40)):
        loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 3 == 0:
            print(f"epoch {epoch} batch {step:02d} loss {loss.item():.4f}")
            note("loss", None, round(loss.item(), 4))
    metrics = evaluate()
    print(f"epoch {epoch} " + " ".join(f"{k} {v:.4f}" for k, v in metrics.items()))
    if metrics[CONFIG["monitor"]] > best:
        best, waited = metrics[CONFIG["monitor"]], 0
    else:
        waited += 1
