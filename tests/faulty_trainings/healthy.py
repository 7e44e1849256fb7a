"""Nothing is wrong: a capsule of a good stretch, because it is asked for."""

import sys

import torch

from postmortem.recorder import Recorder


def main() -> None:
    torch.manual_seed(7)
    inputs = torch.randn(480, 20)
    target = (inputs[:, :10].sum(1) > 0).long()
    loader = torch.utils.data.DataLoader(
        torch.utils.data.TensorDataset(inputs, target), batch_size=24, shuffle=True
    )
    model = torch.nn.Sequential(
        torch.nn.Linear(20, 64), torch.nn.Dropout(0.1), torch.nn.ReLU(), torch.nn.Linear(64, 2)
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    criterion = torch.nn.CrossEntropyLoss()
    with Recorder(
        model, optimizer, loss=criterion, loader=loader, every=10, folder=sys.argv[1], clipping=1.0
    ) as recorder:
        for _ in range(2):
            for batch, classes in loader:
                loss = criterion(model(batch), classes)
                loss.backward()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                optimizer.zero_grad()
        recorder.write("a good stretch")


if __name__ == "__main__":
    main()
