r"""A model with a table of rotary angles for its maximum length is evaluated on texts that exceed it; the addition does not broadcast.

cause: data.sequence-too-long
also: [code.shape-mismatch]
not: [data.collation, data.schema, checkpoint.shape-mismatch]
signature: 'RuntimeError: The size of tensor a \(\d+\) must match the size of tensor b \(\d+\)'
runs_as: pretrain.py
"""

import logging

import torch
from labkit import note, pick, seed_everything
from torch import nn

logging.basicConfig(format="%(asctime)s | %(levelname)-7s | %(message)s", datefmt="%H:%M:%S", level=logging.INFO)
log = logging.getLogger()
MAXIMUM = pick([128, 64, 96])


def angles(length, width):
    table = torch.outer(torch.arange(length), 10000 ** (-torch.arange(0, width, 2) / width))
    return torch.cat([table.cos(), table.sin()], -1)


class Reader(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.embed = nn.Embedding(64, width)
        self.register_buffer("positions", angles(MAXIMUM, width))
        self.attend = nn.MultiheadAttention(width, 4, batch_first=True)
        self.decide = nn.Linear(width, 2)

    def forward(self, tokens):
        hidden = self.embed(tokens) + self.positions[: tokens.shape[1]]
        mixed, _ = self.attend(hidden, hidden, hidden, need_weights=False)
        return self.decide((hidden + mixed).mean(1))


def batches(count, shortest, longest):
    for _ in range(count):
        tokens = torch.randint(0, 64, (8, int(torch.randint(shortest, longest, (1,)))))
        yield tokens, (tokens.float().mean(1) > 31.5).long()


seed_everything()
reader = Reader()
optimizer = torch.optim.Adam(reader.parameters(), lr=2e-3)
log.info("model.max_position_embeddings=%d data.train.max_tokens=%d data.test.max_tokens=none", MAXIMUM, MAXIMUM)
for step, (tokens, labels) in enumerate(batches(120, 16, MAXIMUM), 1):
    loss = nn.functional.cross_entropy(reader(tokens), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 6 == 0:
        log.info("step %d/120 | length %d | loss %.4f", step, tokens.shape[1], loss.item())
        note("loss", step, float(f"{loss.item():.4f}"))
log.info("evaluating on the test split")
right = 0
with torch.no_grad():
    for number, (tokens, labels) in enumerate(batches(30, MAXIMUM - 40, MAXIMUM + 30)):
        log.info("test batch %d: %d x %d tokens", number, *tokens.shape)
        right += (reader(tokens).argmax(1) == labels).sum().item()
log.info("accuracy %.3f", right / 240)
