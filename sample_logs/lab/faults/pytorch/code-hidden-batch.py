"""A GRU keeps its hidden state from batch to batch; the last batch of the epoch is smaller and does not fit it.

cause: code.shape-mismatch
also: [data.collation]
not: [checkpoint.shape-mismatch, data.exhausted, code.autograd-no-grad]
signature: 'RuntimeError: Expected hidden size'
runs_as: train_gru.py
launch: python train_gru.py 2>&1 | tee train.out; exit ${PIPESTATUS[0]}
"""

import torch
from labkit import note, pick, seed_everything
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

seed_everything()
batch = pick([32, 24, 50])
samples = pick([1000, 1000, 720])
data = torch.randn(samples, 20, 8)
labels = data.sum(dim=(1, 2), keepdim=False).unsqueeze(1) / 12
loader = DataLoader(TensorDataset(data, labels), batch_size=batch)


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(8, 24, num_layers=pick([1, 2, 1]), batch_first=True)
        self.fc = nn.Linear(24, 1)

    def forward(self, x, hidden):
        out, hidden = self.rnn(x, hidden)
        return self.fc(out[:, -1]), hidden


net = Counter()
opt = torch.optim.RMSprop(net.parameters(), lr=1e-3)
print("Dataset: {} sequences, batch size {}, {} batches".format(samples, batch, len(loader)))
for epoch in range(1, 4):
    hidden = torch.zeros(net.rnn.num_layers, batch, 24)
    for i, (x, y) in enumerate(loader):
        pred, hidden = net(x, hidden)
        hidden = hidden.detach()
        loss = nn.functional.mse_loss(pred, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        print("Epoch: {} [{}/{} ({:.0f}%)]\tLoss: {:.6f}".format(epoch, i * batch, samples, 100 * i / len(loader), loss.item()))
        note("loss", None, float(f"{loss.item():.6f}"))
