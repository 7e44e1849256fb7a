import time

import torch
from labkit import pick, seed_everything

seed_everything()
net = torch.nn.Sequential(torch.nn.Linear(33, 50), torch.nn.ReLU(), torch.nn.Linear(50, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=pick([0.1, 0.3, 0.05]))
print("training on", torch.get_num_threads(), "thread(s)")
for step in range(20000):
    x = torch.randn(40, 33)
    loss = torch.nn.functional.cross_entropy(net(x), (x[:, 0] * x[:, 1] > 0).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    time.sleep(0.1)
    if step % 10 == 0:
        print(f"{time.strftime('%H:%M:%S')} step {step} loss {loss.item():.3f}")
    if step == 60:
        open("warm", "w").close()
