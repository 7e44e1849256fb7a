"""Validation switches gradients off globally and never on again: the first training step of the next epoch has no graph.

cause: code.autograd-no-grad
also: []
not: [config.peft, code.autograd-inplace, numerics.corrupt-weights, config.checkpointing-conflict]
signature: 'RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn'
runs_as: main.py
launch: python -u main.py
"""

import logging

import torch
from labkit import note, pick, seed_everything
from torch import nn

logging.basicConfig(format="%(levelname)s:%(name)s:%(message)s", level=logging.DEBUG)
log = logging.getLogger("tabular")
seed_everything()
BATCH, EVERY = pick([32, 64, 16]), pick([4, 2, 8])


def validate(model, x, y):
    model.eval()
    torch.set_grad_enabled(False)
    error = nn.functional.l1_loss(model(x), y).item()
    model.train()
    return error


columns = torch.randn(1500, 14)
price = (columns[:, :3].sum(1) + columns[:, 3] * columns[:, 4]).unsqueeze(1)
model = nn.Sequential(nn.Linear(14, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 1))
opt = torch.optim.NAdam(model.parameters(), lr=2e-3)
log.info("columns=%d rows=%d batch=%d validate after each epoch", columns.shape[1], len(columns), BATCH)
step = 0
for epoch in range(6):
    for rows in torch.randperm(1200).split(BATCH):
        loss = nn.functional.mse_loss(model(columns[rows]), price[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
        step += 1
        if step % EVERY == 0:
            log.info("epoch=%d step=%d train_mse=%.5f", epoch, step, loss.item())
            note("loss", step, float("%.5f" % loss.item()))
    mae = validate(model, columns[1200:], price[1200:])
    log.info("epoch=%d valid_mae=%.4f", epoch, mae)
