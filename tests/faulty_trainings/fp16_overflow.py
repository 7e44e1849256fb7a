"""Prices are learnt in raw units under float16 autocast; the output outgrows 65504 on its way."""

import sys

import torch

from postmortem.recorder import Recorder


def main() -> None:
    torch.manual_seed(3)
    features = torch.rand(256, 16)
    prices = (20_000 + 160_000 * features[:, :4].mean(1, keepdim=True)).round()
    loader = torch.utils.data.DataLoader(
        torch.utils.data.TensorDataset(features, prices), batch_size=16, shuffle=True
    )
    model = torch.nn.Sequential(
        torch.nn.Linear(16, 64),
        torch.nn.ReLU(),
        torch.nn.Linear(64, 64),
        torch.nn.ReLU(),
        torch.nn.Linear(64, 1),
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.05)
    scaler = torch.amp.GradScaler("cpu", init_scale=256.0)
    criterion = torch.nn.L1Loss()
    with Recorder(
        model, optimizer, scaler=scaler, loss=criterion, loader=loader, folder=sys.argv[1]
    ) as recorder:
        for epoch in range(12):
            for inputs, target in loader:
                optimizer.zero_grad()
                with torch.autocast("cpu", dtype=torch.float16):
                    loss = criterion(model(inputs), target)
                scaler.scale(loss).backward()
                scaler.step(optimizer)
                scaler.update()
                if recorder.written:
                    return
            print(f"epoch {epoch} loss {loss.item():.1f} scale {scaler.get_scale():g}")


if __name__ == "__main__":
    main()
