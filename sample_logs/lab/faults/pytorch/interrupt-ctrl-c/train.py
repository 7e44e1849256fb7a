import pathlib
import time

import torch
from labkit import pick, seed_everything
from torch.utils.data import DataLoader, TensorDataset


def train(model, loader, optimizer, epoch):
    for batch, (inputs, targets) in enumerate(loader):
        loss = torch.nn.functional.cross_entropy(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        time.sleep(0.02)
        if batch % 10 == 0:
            print(f"Train Epoch: {epoch} [{batch * len(inputs)}/{len(loader.dataset)} ({100 * batch / len(loader):.0f}%)]\tLoss: {loss.item():.6f}", flush=True)
        if epoch == MARK and batch == 25:
            pathlib.Path(".started").touch()


MARK = pick([2, 1, 3])
seed_everything()
inputs = torch.randn(960, 30)
targets = inputs[:, :5].argmax(1)
loader = DataLoader(TensorDataset(inputs, targets), batch_size=16, shuffle=True, num_workers=pick([0, 2, 0]))
model = torch.nn.Sequential(torch.nn.Linear(30, 50), torch.nn.ReLU(), torch.nn.Linear(50, 5))
optimizer = torch.optim.Adadelta(model.parameters(), lr=1.0)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.7)
for epoch in range(1, 15):
    train(model, loader, optimizer, epoch)
    scheduler.step()
