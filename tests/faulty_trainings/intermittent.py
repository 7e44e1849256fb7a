"""Once, a device gives a wrong number: an activation is overwritten from outside the model."""

import sys

import torch

from postmortem.recorder import Recorder


def main() -> None:
    torch.manual_seed(1)
    inputs, target = torch.randn(320, 20), torch.randint(0, 4, (320,))
    loader = torch.utils.data.DataLoader(
        torch.utils.data.TensorDataset(inputs, target), batch_size=16, shuffle=True
    )
    model = torch.nn.Sequential(torch.nn.Linear(20, 48), torch.nn.Tanh(), torch.nn.Linear(48, 4))
    calls = 0

    def faulty_memory(_module, _inputs, output):
        nonlocal calls
        calls += 1
        if calls == 27:
            output = output.clone()
            output.view(-1)[5] = float("nan")
        return output

    model[0].register_forward_hook(faulty_memory)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    criterion = torch.nn.CrossEntropyLoss()
    with Recorder(
        model, optimizer, loss=criterion, loader=loader, every=8, folder=sys.argv[1]
    ) as recorder:
        for _ in range(3):
            for batch, classes in loader:
                loss = criterion(model(batch), classes)
                loss.backward()
                optimizer.step()
                optimizer.zero_grad()
                if recorder.written:
                    return


if __name__ == "__main__":
    main()
