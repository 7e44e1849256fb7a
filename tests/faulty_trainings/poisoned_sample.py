"""One sample of 640 holds an inf, as a division by a zero length left it; batches are of 64."""

import sys

import torch

from postmortem.recorder import Recorder


def main() -> None:
    torch.manual_seed(5)
    images = torch.randn(640, 1, 12, 12)
    digits = torch.randint(0, 10, (640,))
    images[417, 0, 5, 7] = torch.inf
    loader = torch.utils.data.DataLoader(
        torch.utils.data.TensorDataset(images, digits), batch_size=64, shuffle=True
    )
    model = torch.nn.Sequential(
        torch.nn.Conv2d(1, 8, 3, padding=1),
        torch.nn.BatchNorm2d(8),
        torch.nn.ReLU(),
        torch.nn.MaxPool2d(2),
        torch.nn.Flatten(),
        torch.nn.Linear(8 * 6 * 6, 10),
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    criterion = torch.nn.CrossEntropyLoss()
    with Recorder(model, optimizer, loss=criterion, loader=loader, folder=sys.argv[1]) as recorder:
        for inputs, target in loader:
            loss = criterion(model(inputs), target)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            print(f"loss {loss.item():.4f}")
            if recorder.written:
                break


if __name__ == "__main__":
    main()
