"""A loader's worker is killed as the kernel's memory killer would do it.

cause: data.worker-crash
also: [memory.host-oom]
not: [memory.cuda-oom, memory.shm-exhausted, distributed.peer-failure]
signature: 'is killed by signal: Killed|ConnectionResetError'
note: the signal comes from the script itself, as the kernel would send it
environment: transformers
runs_as: train_pairs.py
"""
import os
import signal
import torch
from labkit import pick, seed_everything
from torch.utils.data import DataLoader, Dataset
from tqdm import tqdm

seed_everything()


class Pairs(Dataset):
    def __len__(self):
        return 4000

    def __getitem__(self, i):
        if i == pick([1900, 2300, 1500]):
            os.kill(os.getpid(), signal.SIGKILL)
        return torch.randn(64)


if __name__ == "__main__":
    net = torch.nn.Linear(64, 64)
    opt = torch.optim.SGD(net.parameters(), 0.1)
    for batch in (bar := tqdm(DataLoader(Pairs(), 20, num_workers=2), desc="train")):
        loss = (net(batch) - 1).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        bar.set_postfix(loss=loss.item())
