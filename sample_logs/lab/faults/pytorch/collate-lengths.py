"""Utterances of different length go to the default collation, which cannot stack them; the first batches hold utterances of one length only.

cause: data.collation
not: [code.shape-mismatch, data.schema, data.sequence-too-long]
quick: true
signature: 'RuntimeError: stack expects each tensor to be equal size'
"""

import torch
from labkit import note, pick, seed_everything
from torch import nn
from torch.utils.data import DataLoader, Dataset

seed_everything()


class Utterances(Dataset):
    """Sorted by length, as the manifest has them."""

    def __init__(self, count, frames):
        self.lengths = [frames] * (count // 2) + [frames + 1 + i // 3 for i in range(count // 2)]

    def __len__(self):
        return len(self.lengths)

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(i)
        speaker = i % 8
        return torch.randn(self.lengths[i], 40, generator=g) + speaker / 4, speaker


train_set = Utterances(pick([256, 320, 400]), pick([80, 100, 64]))
train_loader = DataLoader(train_set, batch_size=pick([16, 8, 20]), num_workers=0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(40, 32, 5, padding=2)
        self.out = nn.Linear(32, 8)

    def forward(self, x):
        return self.out(torch.relu(self.conv(x.transpose(1, 2))).mean(-1))


net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
print("Number of utterances:", len(train_set))
print("Number of batches:", len(train_loader))
for epoch in range(5):
    for i, (x, y) in enumerate(train_loader):
        opt.zero_grad()
        loss = nn.CrossEntropyLoss()(net(x), y)
        loss.backward()
        opt.step()
        print("Epoch: %d, Batch: %d, Input: %s, Loss: %.3f" % (epoch, i, tuple(x.shape), loss.item()))
        note("loss", i, float("%.3f" % loss.item()))
