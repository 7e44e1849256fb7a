"""A recurrent model carries its state from one chunk to the next without detach: the second backward walks through the first graph.

cause: code.autograd-no-grad
also: []
not: [code.autograd-inplace, memory.cuda-leak, config.checkpointing-conflict]
signature: 'RuntimeError: Trying to backward through the graph a second time'
runs_as: charlm.py
launch: python charlm.py
"""

import torch
import torch.nn.functional as F
from labkit import pick, seed_everything
from torch import nn

seed_everything()
text = "it was the best of times, it was the worst of times, it was the age of wisdom, it was the age of foolishness, " * 40
chars = sorted(set(text))
codes = torch.tensor([chars.index(c) for c in text])
cell = pick([nn.LSTM, nn.GRU, nn.RNN])
print(f"{len(text)} characters, {len(chars)} different")


class CharModel(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.embed, self.rnn, self.out = nn.Embedding(len(chars), 16), cell(16, width, batch_first=True), nn.Linear(width, len(chars))

    def forward(self, ids, state=None):
        hidden, state = self.rnn(self.embed(ids), state)
        return self.out(hidden), state


model = CharModel(pick([64, 96, 32]))
print(model)
optimizer = torch.optim.Adam(model.parameters(), 2e-3)
length, batch = pick([(32, 8), (25, 4), (50, 2)])
stream = codes[: len(codes) // batch * batch].view(batch, -1)
state = None
for chunk in range(0, stream.size(1) - length - 1, length):
    x, y = stream[:, chunk:chunk + length], stream[:, chunk + 1:chunk + length + 1]
    logits, state = model(x, state)
    loss = F.cross_entropy(logits.transpose(1, 2), y)
    print(f"chunk {chunk // length} | bpc {loss.item() / 0.6931:.3f}")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
