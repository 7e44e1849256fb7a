r"""accelerate launch warns that the port is taken, finds another one by itself and trains to the end.

environment: transformers
cause: healthy.completed
also: [healthy.running]
not: [distributed.port-in-use, distributed.rendezvous, distributed.launcher]
outcome: completed
step_basis: epoch
runs_as: train.py
launch: |
  python -m http.server $LAB_PORT --bind 127.0.0.1 > server.log 2>&1 &
  until grep -qs Serving server.log; do sleep 0.1; done
  accelerate launch --multi_gpu --num_processes 2 --num_machines 1 --mixed_precision no --dynamo_backend no --main_process_port $LAB_PORT train.py
"""

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from labkit import SEED, note, pick
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

accelerator = Accelerator(cpu=True)
set_seed(SEED)
x = torch.randn(400, 6)
y = (x @ torch.randn(6, 1)).tanh()
model = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=pick([0.01, 0.02, 0.005]))
model, optimizer, loader = accelerator.prepare(model, optimizer, DataLoader(TensorDataset(x, y), batch_size=20, shuffle=True))
accelerator.print(accelerator.state)
for epoch in range(1, 9):
    total = torch.zeros(1)
    for inputs, targets in loader:
        loss = nn.functional.mse_loss(model(inputs), targets)
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
        total += loss.detach()
    mean = accelerator.reduce(total).item() / accelerator.num_processes / len(loader)
    accelerator.print(f"epoch {epoch}: train_loss {mean:.5f}")
    if accelerator.is_main_process:
        note("loss", epoch, float(f"{mean:.5f}"))
accelerator.print("done")
accelerator.end_training()
