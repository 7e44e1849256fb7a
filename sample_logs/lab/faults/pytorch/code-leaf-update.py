"""Hand-written weight decay or clamping changes parameters in place without no_grad: autograd refuses a leaf.

cause: code.autograd-inplace
also: [code.user-exception]
not: [code.autograd-no-grad, code.dtype-mismatch]
signature: 'RuntimeError: a (leaf Variable|view of a leaf Variable) that requires grad is being used in an in-place operation'
runs_as: sgd_by_hand.py
launch: python sgd_by_hand.py
"""

import torch
from labkit import pick, seed_everything

seed_everything()
n_in, n_hidden = pick([(10, 32), (20, 16), (6, 64)])
weights = [torch.randn(n_in, n_hidden, requires_grad=True), torch.zeros(n_hidden, requires_grad=True), torch.randn(n_hidden, 1, requires_grad=True)]
data = torch.rand(2000, n_in)
target = (data * torch.linspace(-1, 1, n_in)).sum(1, keepdim=True)
RATE, DECAY = 0.01, pick([1e-4, 1e-3, 0.0])
print(f"regression with {n_in} inputs, {n_hidden} hidden units; rate {RATE}, decay {DECAY}")
print(f"target mean {target.mean():.3f} std {target.std():.3f}")


def forward(x):
    return torch.relu(x @ weights[0] + weights[1]) @ weights[2]


def step(rate):
    for w in weights:
        if pick([True, True, False]):
            w -= rate * (w.grad + DECAY * w)
        else:
            w[:].sub_(rate * w.grad)
        w.grad = None


with torch.no_grad():
    print(f"loss before training: {(forward(data) - target).square().mean():.4f}")
for epoch in range(50):
    order = torch.randperm(len(data))
    for rows in order.split(100):
        error = (forward(data[rows]) - target[rows]).square().mean()
        error.backward()
        step(RATE)
    print(f"epoch {epoch} loss {error.item():.5f}")
