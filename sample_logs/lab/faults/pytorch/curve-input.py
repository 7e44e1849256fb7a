"""Two healthy runs end with the same sentence: in one, the loader takes a few per cent of each step, in the other nearly all of it.

cause: healthy.completed
runs_as: train_imagenet.py
outcome: completed
variants:
  fed:
    story: The loader keeps up; the run ends normally.
    cause: healthy.completed
    also: [healthy.running]
    not: [performance.input-bound, performance.slow]
  starved:
    story: Waiting for the storage takes nearly all of each step; the run ends normally, far slower than it could.
    cause: performance.input-bound
    also: [healthy.completed]
    not: [hang.stalled, performance.slow]
"""

import time

import torch
from labkit import VARIANT, note, pick, seed_everything

seed_everything()
model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
end = time.perf_counter()
for step in range(pick([60, 70, 50])):
    if VARIANT == "starved":
        time.sleep(pick([0.12, 0.09, 0.15]))     # the storage answers slowly
    images, labels = torch.randn(256, 256), torch.randint(0, 10, (256,))
    loaded = time.perf_counter()
    loss = torch.nn.functional.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    done = time.perf_counter()
    print(f"Epoch: [0][{step}/{pick([60, 70, 50])}]\tTime {done - end:.3f}\tData {loaded - end:.3f}\tLoss {loss.item():.4e}")
    note("loss", step, float(f"{loss.item():.4e}"))
    end = done
print("Training complete.")
