r"""A pretrained classifier is loaded into a model with another number of classes (or another width).

cause: checkpoint.shape-mismatch
also: []
not: [checkpoint.key-mismatch, checkpoint.corrupt, code.shape-mismatch]
signature: 'size mismatch for '
first_failure: 'RuntimeError: Error\(s\) in loading state_dict for'
runs_as: transfer.py
launch: |
  python transfer.py --pretrain > /dev/null
  python transfer.py --weights pretrained.pt
"""

import argparse

import torch
import torch.nn as nn
from labkit import pick, seed_everything

parser = argparse.ArgumentParser()
parser.add_argument("--pretrain", action="store_true")
parser.add_argument("--weights")
args = parser.parse_args()
seed_everything()


class ResBlock(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.conv, self.bn = nn.Conv1d(c, c, 3, padding=1), nn.BatchNorm1d(c)

    def forward(self, x):
        return x + torch.relu(self.bn(self.conv(x)))


class Net(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.stem, self.blocks, self.fc = nn.Conv1d(1, width, 7), nn.Sequential(ResBlock(width), ResBlock(width)), nn.Linear(width, classes)

    def forward(self, x):
        return self.fc(self.blocks(self.stem(x)).mean(-1))


old, new = pick([((16, 1000), (16, 10)), ((16, 527), (16, 50)), ((32, 12), (24, 12))])
if args.pretrain:
    torch.save(Net(*old).state_dict(), "pretrained.pt")
    raise SystemExit
net = Net(*new)
print(f"fine-tuning for {new[1]} classes, width {new[0]}")
print(f"loading {args.weights}")
missing = net.load_state_dict(torch.load(args.weights), strict=pick([True, False, False]))
print(missing)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for i in range(50):
    loss = nn.functional.cross_entropy(net(torch.randn(8, 1, 100)), torch.randint(0, new[1], (8,)))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(i, loss.item())
