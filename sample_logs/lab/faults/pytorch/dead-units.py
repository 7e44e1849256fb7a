"""The first layer's biases start so low that no ReLU ever opens: no gradient reaches the body, the output is one constant and the loss stays at ln of the classes.

cause: learning.plateau
also: [learning.collapse]
not: [healthy.completed, healthy.running, numerics.lr-divergence, numerics.labels-all-masked]
signature: 'grad_norm=0[.]0000'
first_failure: 'active=0[.]0%'
runs_as: main.py
"""

import argparse

import torch
from labkit import note, pick, seed_everything
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--hidden", type=int, default=pick([128, 64, 256]))
parser.add_argument("--classes", type=int, default=pick([10, 5, 20]))
parser.add_argument("--lr", type=float, default=0.05)
args = parser.parse_args()
print("args:", vars(args))
seed_everything()
inputs = torch.rand(3000, 32)
targets = (inputs[:, 0] * args.classes).long()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2, self.fc3 = nn.Linear(32, args.hidden), nn.Linear(args.hidden, args.hidden), nn.Linear(args.hidden, args.classes, bias=False)
        for layer in (self.fc1, self.fc2):
            nn.init.kaiming_normal_(layer.weight)
            nn.init.constant_(layer.bias, -30.0)

    def forward(self, x):
        self.hidden = torch.relu(self.fc2(torch.relu(self.fc1(x))))
        return self.fc3(self.hidden)


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=args.lr, momentum=0.9)
for step in range(1, 401):
    rows = torch.randint(0, 3000, (64,))
    out = net(inputs[rows])
    loss = nn.functional.cross_entropy(out, targets[rows])
    optimizer.zero_grad()
    loss.backward()
    norm = torch.stack([p.grad.norm() for p in net.parameters()]).norm().item()
    optimizer.step()
    if step % 10 == 0:
        active, accuracy = (net.hidden > 0).float().mean().item(), (out.argmax(1) == targets[rows]).float().mean().item()
        print(f"step={step} loss={loss.item():.4f} acc={accuracy:.3f} grad_norm={norm:.4f} active={active:.1%} lr={args.lr}")
        note("loss", step, float(f"{loss.item():.4f}"))
        note("grad_norm", step, float(f"{norm:.4f}"))
        note("learning_rate", step, args.lr)
