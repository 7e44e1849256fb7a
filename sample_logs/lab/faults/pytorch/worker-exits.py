r"""A worker leaves with exit status 3 because the native reader library calls exit() in it: the loader only learns that the worker went.

cause: data.worker-crash
not: [memory.host-oom, memory.shm-exhausted, data.decode, data.exhausted]
signature: 'RuntimeError: DataLoader worker \(pid\(s\) [\d, ]+\) exited unexpectedly'
first_failure: 'RuntimeError: DataLoader worker \(pid \d+\) exited unexpectedly'
"""

import argparse
import ctypes
import logging

import torch
from labkit import pick, seed_everything
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

logging.basicConfig(format="%(asctime)s,%(msecs)03d %(levelname)s [%(processName)s] %(message)s", datefmt="%Y-%m-%d %H:%M:%S", level=logging.INFO)
reader = ctypes.CDLL(None)      # stands for a reader written in C, which ends the process when its handle goes bad


class Stream(IterableDataset):
    def __init__(self, records, last):
        self.records, self.last = records, last

    def __iter__(self):
        info = get_worker_info()
        for number in range(info.id, self.records, info.num_workers):
            if number >= self.last:
                reader.exit(3)
            for _ in range(20):
                torch.fft.rfft(torch.randn(4096))
            phase = torch.arange(50) / (5 + number % 7)
            yield phase.sin() + 0.05 * torch.randn(50), float(number % 7)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=pick([2, 1, 2]))
    parser.add_argument("--batch", type=int, default=pick([24, 16, 32]))
    args = parser.parse_args()
    logging.info("%s", args)
    seed_everything()
    net = torch.nn.Sequential(torch.nn.Linear(50, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1))
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
    loader = DataLoader(Stream(100_000, pick([2000, 1200, 3000])), args.batch, num_workers=args.workers)
    for step, (signal, kind) in enumerate(loader):
        loss = torch.nn.functional.huber_loss(net(signal).squeeze(1), kind.float())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 5 == 0:
            logging.info("step %d huber %.4f", step, loss.item())


main()
