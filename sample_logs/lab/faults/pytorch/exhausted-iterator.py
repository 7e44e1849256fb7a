"""Training counts steps, the loader's iterator is made once and never again: after one epoch `next` raises StopIteration.

cause: data.exhausted
not: [data.empty, code.user-exception, healthy.completed]
signature: '^StopIteration$'
"""

import torch
from labkit import note, pick, seed_everything
from torch.utils.data import DataLoader, TensorDataset

seed_everything()
max_steps = pick([500, 300, 1000])
x = torch.rand(pick([1000, 640, 1500]), 10)
y = (x @ torch.rand(10, 1)).sin()
loader = DataLoader(TensorDataset(x, y), batch_size=20, shuffle=True)
model = torch.nn.Sequential(torch.nn.Linear(10, 64), torch.nn.SiLU(), torch.nn.Linear(64, 1))
opt = torch.optim.AdamW(model.parameters(), lr=2e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, max_steps)

print("steps to do:", max_steps, "| batches per epoch:", len(loader))
batches = iter(loader)
for step in range(1, max_steps + 1):
    xb, yb = next(batches)
    loss = torch.nn.functional.mse_loss(model(xb), yb)
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
    if step % 2 == 0:
        print("%d/%d\tloss=%.2e\tlr=%.3e" % (step, max_steps, loss.item(), sched.get_last_lr()[0]))
        note("loss", step, float("%.2e" % loss.item()))
        note("learning_rate", step, float("%.3e" % sched.get_last_lr()[0]))
