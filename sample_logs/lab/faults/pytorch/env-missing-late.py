"""A package is imported only where it is used: the first epoch trains, then the evaluation (or the writer) fails on the import.

cause: environment.missing-package
step_basis: epoch
also: []
not: [environment.version-incompatible, data.missing-file, code.user-exception]
signature: '^ModuleNotFoundError: No module named'
runs_as: train_tabular.py
launch: python train_tabular.py
"""

import torch
from labkit import note, pick, seed_everything
from torch import nn

seed_everything()
print("Loading data...")
x = torch.randn(1000, 12)
y = (x[:, 0] + 0.5 * x[:, 3] > 0).long()
print("Train size: 800, Validation size: 200")
model = nn.Sequential(nn.Linear(12, pick([32, 48, 16])), nn.ELU(), nn.Linear(pick([32, 48, 16]), 2))
optimizer = torch.optim.Adam(model.parameters(), lr=pick([1e-2, 3e-3, 5e-3]))


def report(predicted, scores, wanted):
    if pick([True, False, True]):
        from sklearn.metrics import classification_report, roc_auc_score
        return f"AUC {roc_auc_score(wanted, scores):.4f}\n{classification_report(wanted, predicted)}"
    from torch.utils.tensorboard import SummaryWriter
    writer = SummaryWriter("runs/tabular")
    writer.add_scalar("accuracy", (predicted == wanted).float().mean())
    return "written"


for epoch in range(1, 11):
    losses = []
    for rows in torch.randperm(800).split(50):
        loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    print(f"Epoch {epoch}/10 - train_loss: {sum(losses) / len(losses):.4f}")
    note("loss", epoch, round(sum(losses) / len(losses), 4))
    with torch.no_grad():
        logits = model(x[800:])
    print(report(logits.argmax(1), logits.softmax(1)[:, 1], y[800:]))
