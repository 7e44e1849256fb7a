"""accelerate's find_executable_batch_size meets out of memory, halves the batch twice and trains to the end.

cause: healthy.completed
also: [healthy.running]
not: [memory.cuda-oom, memory.cuda-leak, memory.cuda-fragmentation]
outcome: completed
environment: transformers
runs_as: train_auto.py
needs: [gpu]
kept: []
seconds: 300
"""

import torch
from accelerate import Accelerator
from accelerate.utils import find_executable_batch_size
from labkit import note, pick, seed_everything

seed_everything()
accelerator = Accelerator()


@find_executable_batch_size(starting_batch_size=4096)
def train(batch_size):
    accelerator.free_memory()
    accelerator.print(f"Trying batch size: {batch_size}")
    model = torch.nn.Sequential(torch.nn.Linear(64, 8192), torch.nn.Tanh(), torch.nn.Linear(8192, 64))
    optimizer = torch.optim.SGD(model.parameters(), lr=pick([0.05, 0.1, 0.03]))
    model, optimizer = accelerator.prepare(model, optimizer)
    x = torch.randn(1, 64, device=accelerator.device)
    for step in range(1, 31):
        rows = x.expand(batch_size * 512, 64) + 0.1 * torch.randn(batch_size * 512, 64, device=accelerator.device)
        loss = (model(rows) - x).pow(2).mean()
        optimizer.zero_grad()
        accelerator.backward(loss)
        optimizer.step()
        accelerator.print(f"step {step}/30 loss {loss.item():.4f}")
        note("loss", step, float(f"{loss.item():.4f}"))


train()
accelerator.print("finished")
