"""A generator pulls from a second, shorter stream with a bare next: Python turns its StopIteration into a RuntimeError.

cause: data.exhausted
also: [code.user-exception]
not: [data.empty, data.collation, data.worker-crash]
signature: 'RuntimeError: generator raised StopIteration'
first_failure: '(^StopIteration$|RuntimeError: Caught RuntimeError)'
runs_as: train_semi.py
"""

import torch
from labkit import note, pick, seed_everything
from torch.utils.data import DataLoader, IterableDataset

COUNTS = {"labelled": pick([600, 480, 720]), "unlabelled": pick([960, 700, 1000]), "ratio": 2}


def labelled():
    draw = torch.Generator().manual_seed(1)
    for number in range(COUNTS["labelled"]):
        yield torch.randn(8, generator=draw) + number % 2, number % 2


def unlabelled():
    draw = torch.Generator().manual_seed(2)
    for number in range(COUNTS["unlabelled"]):
        yield torch.randn(8, generator=draw) + number % 2


class Mixed(IterableDataset):
    def __iter__(self):
        plain = unlabelled()
        for features, label in labelled():
            extra = torch.stack([next(plain) for _ in range(COUNTS["ratio"])])
            yield features, label, extra


def main():
    seed_everything()
    print(f"labelled {COUNTS['labelled']}, unlabelled {COUNTS['unlabelled']}, {COUNTS['ratio']} unlabelled per labelled")
    loader = DataLoader(Mixed(), batch_size=10, num_workers=pick([0, 1, 0]))
    net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 2))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step, (features, labels, extra) in enumerate(loader):
        sure = net(extra.flatten(0, 1)).softmax(1)
        supervised = torch.nn.functional.cross_entropy(net(features), labels)
        entropy = -(sure * sure.log()).sum(1).mean()
        loss = supervised + 0.1 * entropy
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"iter {step}: total {loss.item():.4f}, supervised {supervised.item():.4f}, entropy {entropy.item():.4f}")
        note("loss", step, float(f"{loss.item():.4f}"))


if __name__ == "__main__":
    main()
