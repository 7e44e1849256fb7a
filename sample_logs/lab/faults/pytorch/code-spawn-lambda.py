"""DataLoader workers are spawned, and the collate function (or a transform) is a lambda or a local function, which cannot be pickled.

cause: code.serialization
also: []
not: [data.worker-crash, data.collation, memory.host-oom]
signature: '(PicklingError|AttributeError): Can.t (pickle|get local)'
runs_as: train.py
"""

import random

import torch
from labkit import pick, seed_everything
from torch.utils.data import DataLoader, Dataset


class Words(Dataset):
    def __init__(self, size, transform=None):
        self.rows = [torch.randint(1, 99, (random.randint(3, 12),)) for _ in range(size)]
        self.transform = transform

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        row = self.rows[i]
        return (self.transform(row) if self.transform else row), i % 4


def make_loader(style, workers):
    def pad(batch):
        rows, kinds = zip(*batch)
        return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True), torch.tensor(kinds)

    noise = (lambda row: row[torch.rand(len(row)) > 0.1]) if style == "noise" else None
    collate = pad if style == "local" else (lambda batch: pad(batch))
    return DataLoader(Words(400, noise), batch_size=20, shuffle=True, num_workers=workers, collate_fn=collate, multiprocessing_context="spawn")


def main():
    seed_everything()
    workers = pick([2, 4, 1])
    loader = make_loader(pick(["local", "lambda", "noise"]), workers)
    model = torch.nn.Sequential(torch.nn.EmbeddingBag(99, 16, padding_idx=0), torch.nn.Linear(16, 4))
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    print(f"training set: {len(loader.dataset)} sequences in {len(loader)} batches, {workers} workers (spawn)")
    print(f"model: {model}")
    for epoch in range(1, 4):
        for batch, (tokens, kinds) in enumerate(loader):
            loss = torch.nn.functional.cross_entropy(model(tokens), kinds)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch}: loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
