"""The checkpoint that training starts from already holds NaN in some tensors, as the check after loading says; the loss is NaN from the first step.

cause: numerics.corrupt-weights
also: [numerics.nonfinite-unknown]
not: [numerics.lr-divergence, numerics.fp16-overflow, numerics.bad-batch, checkpoint.corrupt, checkpoint.key-mismatch]
signature: 'isfinite=False'
runs_as: finetune.py
launch: python finetune.py --init weights/epoch_12.pth
"""

import argparse
import os

import torch
from labkit import note, pick, seed_everything
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--init", default="")
parser.add_argument("--epochs", type=int, default=4)
parser.add_argument("--lr", type=float, default=pick([1e-4, 5e-5, 3e-4]))
args = parser.parse_args()
seed_everything()


def build():
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, stride=2, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 5)
    )


# The earlier run that wrote the checkpoint: it went NaN in its last epoch and saved all the same.
earlier = build()
images, labels = torch.randn(256, 1, 20, 20), torch.randint(0, 5, (256,))
optimizer = torch.optim.SGD(earlier.parameters(), lr=0.1)
for rows in torch.arange(128).split(32):
    optimizer.zero_grad()
    nn.functional.cross_entropy(earlier(images[rows]), labels[rows]).backward()
    optimizer.step()
with torch.no_grad():
    for index in pick([[3, 4], [4, 8], [0, 1, 3]]):
        for tensor in (t for t in earlier[index].state_dict().values() if t.is_floating_point()):
            tensor.view(-1)[:: pick([1, 3, 2])] = float("nan")
os.makedirs("weights", exist_ok=True)
torch.save({"state_dict": earlier.state_dict(), "epoch": 12}, "weights/epoch_12.pth")

model = build()
checkpoint = torch.load(args.init, map_location="cpu")
print(f"=> loading checkpoint '{args.init}' (epoch {checkpoint['epoch']})")
print(model.load_state_dict(checkpoint["state_dict"]))
for name, tensor in model.state_dict().items():
    print(f"   {name:22s} {str(tuple(tensor.shape)):16s} isfinite={torch.isfinite(tensor).all().item()} mean={tensor.float().mean().item():.4f}")
optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
step = 0
for epoch in range(args.epochs):
    model.train()
    for i, rows in enumerate(torch.randperm(256).split(32)):
        step += 1
        output = model(images[rows])
        loss = nn.functional.cross_entropy(output, labels[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"Epoch: [{epoch}][{i}/8]\tstep {step}\tLoss {loss.item():.4e}\tAcc@1 {(output.argmax(1) == labels[rows]).float().mean().item() * 100:6.2f}")
        note("loss", step, float(f"{loss.item():.4e}"))
