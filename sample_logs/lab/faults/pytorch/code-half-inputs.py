"""The training loop keeps the model in float32; the validation helper casts its batch to half precision, left over from a GPU script, and the first linear layer refuses.

cause: code.dtype-mismatch
quick: true
also: []
not: [numerics.fp16-overflow, numerics.unscale-fp16-gradients, code.shape-mismatch, cuda.insufficient-precision-support]
signature: 'RuntimeError: mat1 and mat2 must have the same dtype'
runs_as: main.py
launch: python main.py --epochs 3
"""

import argparse

import torch
from labkit import note, pick, seed_everything
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=10)
parser.add_argument("--lr", type=float, default=pick([1e-3, 5e-4, 3e-3]))
parser.add_argument("--batch-size", type=int, default=pick([64, 32, 128]))
args = parser.parse_args()
seed_everything()

CLASSES = 10
AUTOCAST_DTYPE = pick([torch.float16, torch.bfloat16, torch.float16])


class MLP(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.stem = nn.Linear(48, width)
        self.body = nn.Sequential(nn.GELU(), nn.Linear(width, width), nn.GELU())
        self.head = nn.Linear(width, CLASSES)

    def forward(self, x):
        return self.head(self.body(self.stem(x)))


def evaluate(model, images, labels):
    model.eval()
    correct = 0
    with torch.no_grad():
        for x, y in zip(images.split(100), labels.split(100)):
            logits = model(x.to(AUTOCAST_DTYPE))
            correct += (logits.argmax(-1) == y).sum().item()
    model.train()
    return correct / len(labels)


inputs, centres = torch.randn(2560, 48), torch.randn(CLASSES, 48)
targets = (inputs @ centres.T).argmax(-1)
model = MLP(pick([128, 96, 256]))
optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
print(args)
print(f"model: {sum(p.numel() for p in model.parameters()):,} parameters, dtype {next(model.parameters()).dtype}")
step = 0
for epoch in range(1, args.epochs + 1):
    for rows in torch.randperm(2048).split(args.batch_size):
        step += 1
        loss = nn.functional.cross_entropy(model(inputs[rows]), targets[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 8 == 0:
            print(f"epoch {epoch} step {step} loss {loss.item():.4f}")
            note("loss", step, round(loss.item(), 4))
    print(f"epoch {epoch} done, running validation on {len(inputs) - 2048} samples")
    print(f"epoch {epoch} accuracy {evaluate(model, inputs[2048:], targets[2048:]):.3f}")
