"""A regression with Accelerate and SGD whose rate is several times too high: the loss climbs to inf."""

import sys

import torch
from accelerate import Accelerator

from postmortem.recorder import record_accelerate


def main() -> None:
    torch.manual_seed(11)
    inputs = torch.randn(512, 24)
    target = inputs @ torch.randn(24, 3) + 0.1 * torch.randn(512, 3)
    loader = torch.utils.data.DataLoader(
        torch.utils.data.TensorDataset(inputs, target), batch_size=32, shuffle=True
    )
    model = torch.nn.Sequential(torch.nn.Linear(24, 64), torch.nn.ReLU(), torch.nn.Linear(64, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.15, momentum=0.9)
    accelerator = Accelerator(cpu=True)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    criterion = torch.nn.MSELoss()
    with record_accelerate(
        accelerator, model, optimizer, loss=criterion, loader=loader, folder=sys.argv[1]
    ) as recorder:
        for epoch in range(20):
            for inputs, target in loader:
                loss = criterion(model(inputs), target)
                accelerator.backward(loss)
                optimizer.step()
                optimizer.zero_grad()
            print(f"epoch {epoch} loss {loss.item():.4g}")
            if recorder.written:
                break


if __name__ == "__main__":
    main()
