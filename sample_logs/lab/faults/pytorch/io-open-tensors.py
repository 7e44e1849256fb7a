"""Worker processes hand tensors over as open files and the script keeps all batches; the limit for open files is reached.

cause: io.file-limit
also: [data.worker-crash]
not: [memory.shm-exhausted, memory.host-oom, data.collation]
signature: '(Too many open files|received 0 items of ancdata)'
runs_as: cache_epoch.py
launch: |
  ulimit -n 256
  python cache_epoch.py
"""

import resource

import torch
import torch.multiprocessing
from labkit import note, pick, seed_everything
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Signals(Dataset):
    def __len__(self):
        return 3200

    def __getitem__(self, i):
        generator = torch.Generator().manual_seed(i)
        return torch.randn(30, generator=generator), i % 5


def main():
    seed_everything()
    print("soft and hard limit of open files:", resource.getrlimit(resource.RLIMIT_NOFILE))
    print("sharing strategy:", torch.multiprocessing.get_sharing_strategy())
    loader = DataLoader(Signals(), batch_size=pick([8, 4, 10]), num_workers=1)
    model, seen = nn.Linear(30, 5), []
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for step, (x, y) in enumerate(loader, 1):
        seen.append((x, y))
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(f"[{step}/{len(loader)}] loss={loss.item():.4f} cached={len(seen)}")
            note("loss", step, round(loss.item(), 4))
    print("second epoch from the cache")
    for x, y in seen:
        loss = nn.functional.cross_entropy(model(x), y)


if __name__ == "__main__":
    main()
