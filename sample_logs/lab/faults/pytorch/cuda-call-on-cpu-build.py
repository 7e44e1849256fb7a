"""The script moves its model to the GPU without asking; this torch is a CPU build.

cause: cuda.not-available
also: []
not: [code.device-mismatch, cuda.driver-too-old, code.user-exception]
signature: 'AssertionError: Torch not compiled with CUDA enabled'
runs_as: train.py
dump_command: python -m torch.utils.collect_env
"""

import torch
from labkit import pick, seed_everything
from torch import nn

seed_everything()
print("==> Preparing data..")
x, y = torch.randn(256, 3, 16, 16), torch.randint(0, 10, (256,))
print("==> Building model..")
net = nn.Sequential(nn.Conv2d(3, pick([8, 16, 12]), 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(pick([8, 16, 12]), 10))
how = pick(["method", "device", "loss"])
if how == "method":
    net = net.cuda()
elif how == "device":
    net = net.to(torch.device("cuda:0"))
weights = torch.ones(10).cuda()
criterion = nn.CrossEntropyLoss(weight=weights)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(5):
    loss = criterion(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(epoch, loss.item())
