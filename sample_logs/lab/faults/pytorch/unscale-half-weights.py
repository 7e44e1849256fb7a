"""The model was cast with half() before mixed-precision training; GradScaler is asked to unscale its float16 gradients for clipping and refuses.

cause: numerics.unscale-fp16-gradients
also: []
not: [numerics.fp16-overflow, code.dtype-mismatch, cuda.not-available]
signature: 'ValueError: Attempting to unscale FP16 gradients'
runs_as: train_amp.py
launch: python train_amp.py --amp
"""

import argparse

import torch
from labkit import pick, seed_everything
from torch import nn

parser = argparse.ArgumentParser(description="mixed precision training")
parser.add_argument("--amp", action="store_true")
parser.add_argument("--clip", type=float, default=pick([1.0, 0.5, 5.0]))
parser.add_argument("--dim", type=int, default=pick([64, 96, 128]))
args = parser.parse_args()
seed_everything()


class Classifier(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.stem = nn.Linear(32, dim)
        self.blocks = nn.ModuleList(nn.Linear(dim, dim) for _ in range(4))
        self.head = nn.Linear(dim, 10)

    def forward(self, x):
        x = torch.relu(self.stem(x))
        for block in self.blocks:
            x = x + torch.relu(block(x))
        return self.head(x)


def train_one_epoch(model, optimizer, scaler, data):
    model.train()
    for step, (x, y) in enumerate(data):
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.float16, enabled=args.amp):
            loss = nn.functional.cross_entropy(model(x).float(), y)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), args.clip)
        scaler.step(optimizer)
        scaler.update()
        print(f"step {step} loss {loss.item():.4f} norm {norm.item():.4f} scale {scaler.get_scale():.0f}")


def main():
    model = Classifier(args.dim).half() if args.amp else Classifier(args.dim)
    print(model)
    for name, parameter in list(model.named_parameters())[:4]:
        print(f"{name}: {parameter.dtype}, requires_grad={parameter.requires_grad}")
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    scaler = torch.amp.GradScaler("cpu", enabled=args.amp)
    data = [(torch.randn(16, 32).half(), torch.randint(0, 10, (16,))) for _ in range(20)]
    print(f"using amp: {args.amp}, gradient clipping at {args.clip}")
    train_one_epoch(model, optimizer, scaler, data)


if __name__ == "__main__":
    main()
