"""A base model gets chat tokens whose embedding rows are zeros; its norm divides by the length of the vector, which is 0 for them, and the loss is NaN as soon as a chat token is read.

cause: numerics.untrained-embeddings
also: [numerics.nonfinite-unknown, numerics.unstable-op]
not: [numerics.lr-divergence, numerics.fp16-overflow, numerics.bad-batch, checkpoint.shape-mismatch]
signature: 'loss nan'
runs_as: chat_tuning.py
"""

import logging

import torch
from labkit import note, pick, seed_everything
from torch import nn

logging.basicConfig(level=logging.INFO, format="%(levelname)s:%(name)s:%(message)s")
logger = logging.getLogger("chat")
seed_everything()
TOKENS = pick([["<|im_start|>", "<|im_end|>"], ["<|user|>", "<|assistant|>", "<|end|>"], ["[INST]", "[/INST]", "<<SYS>>", "<</SYS>>"]])
WIDTH = pick([64, 48, 96])


class UnitNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return self.scale * x * x.shape[-1] ** 0.5 / x.norm(dim=-1, keepdim=True)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.gate, self.down = UnitNorm(width), nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x):
        return x + self.down(nn.functional.silu(self.gate(self.norm(x))))


class Base(nn.Module):
    def __init__(self, vocabulary, width):
        super().__init__()
        self.embed, self.blocks, self.head = nn.Embedding(vocabulary, width), nn.Sequential(Block(width), Block(width)), nn.Linear(width, vocabulary, bias=False)

    def resize(self, vocabulary):
        old = self.embed.weight.data
        rows = torch.zeros(vocabulary - len(old), old.shape[1])
        self.embed.weight = nn.Parameter(torch.cat([old, rows]))
        self.head.weight = nn.Parameter(torch.cat([self.head.weight.data, rows.clone()]))

    def forward(self, tokens):
        return self.head(self.blocks(self.embed(tokens)))


model = Base(256, WIDTH)
text = torch.tensor(list(b"the base model has read a little text and knows it well. ")).repeat(20)
warm = torch.optim.AdamW(model.parameters(), lr=3e-3)
for _ in range(60):
    start = torch.randint(0, len(text) - 33, (8,))
    tokens = torch.stack([text[i : i + 32] for i in start])
    loss = nn.functional.cross_entropy(model(tokens)[:, :-1].transpose(1, 2), tokens[:, 1:])
    warm.zero_grad()
    loss.backward()
    warm.step()
logger.info("base model: vocabulary 256, width %d, loss on base text %.4f", WIDTH, loss.item())
model.resize(256 + len(TOKENS))
logger.info("added %d special tokens: %s; vocabulary is now %d", len(TOKENS), TOKENS, len(model.embed.weight))
norms = model.embed.weight.detach().norm(dim=1)
for i, token in enumerate(TOKENS):
    logger.info("embedding of %-14s id %d norm %.4f (mean of base rows %.4f)", token, 256 + i, norms[256 + i], norms[:256].mean())
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-4)
for step in range(1, 31):
    start = torch.randint(0, len(text) - 33, (8,)).tolist()
    turns = [torch.cat([torch.tensor([256]), text[i : i + 14], torch.tensor([255 + len(TOKENS), 257]), text[i + 14 : i + 30]]) for i in start]
    tokens = torch.stack(turns)
    loss = nn.functional.cross_entropy(model(tokens)[:, :-1].transpose(1, 2), tokens[:, 1:])
    optimizer.zero_grad()
    loss.backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    logger.info("step %d/30 loss %.4f grad_norm %.4f", step, loss.item(), norm.item())
    note("loss", step, float(f"{loss.item():.4f}"))
    note("grad_norm", step, float(f"{norm.item():.4f}"))
