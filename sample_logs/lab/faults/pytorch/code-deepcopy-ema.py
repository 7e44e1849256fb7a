"""An averaged copy of the model is made by deepcopy after a tensor with a graph was hung onto the module.

cause: code.serialization
also: [code.user-exception]
not: [code.autograd-no-grad, code.autograd-inplace, memory.cuda-oom]
signature: 'RuntimeError: Only Tensors created explicitly by the user'
runs_as: train_ema.py
launch: python train_ema.py
"""

import copy

import torch
from labkit import note, pick, seed_everything
from torch import nn

seed_everything()
START = pick([30, 20, 45])


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner, self.outer = nn.Linear(10, width), nn.Linear(width, 5)

    def forward(self, x):
        self.hidden = torch.relu(self.inner(x))
        return self.outer(self.hidden)


net, ema = Net(pick([40, 64, 24])), None
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
x = torch.randn(900, 10)
y = (x @ torch.randn(10, 5)).argmax(1)
print(f"{'step':>6} {'loss':>10} {'l1':>10}")
for step in range(1, 101):
    rows = torch.randint(0, 900, (64,))
    logits = net(x[rows])
    l1 = net.hidden.abs().mean()
    loss = nn.functional.cross_entropy(logits, y[rows]) + 1e-3 * l1
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 5 == 0:
        print(f"{step:>6} {loss.item():>10.4f} {l1.item():>10.4f}")
        note("loss", step, round(loss.item(), 4))
        note("l1", step, round(l1.item(), 4))
    if step == START:
        print(f"starting the moving average at step {step}")
        ema = copy.deepcopy(net)
    elif ema is not None:
        with torch.no_grad():
            for slow, fast in zip(ema.parameters(), net.parameters()):
                slow.lerp_(fast, 0.01)
