"""A small language model shifts its logits by one, but not its labels: the loss gets batches of different length.

cause: code.shape-mismatch
also: []
not: [data.collation, numerics.labels-all-masked, cuda.device-side-assert, data.sequence-too-long]
signature: 'ValueError: Expected input batch_size'
runs_as: pretrain.py
launch: python pretrain.py
"""

from dataclasses import asdict, dataclass

import torch
import torch.nn as nn
from labkit import pick, seed_everything


@dataclass
class Config:
    vocab: int = pick([256, 512, 1000])
    dim: int = 48
    heads: int = 4
    layers: int = pick([2, 1, 3])
    block: int = pick([32, 64, 16])
    batch: int = pick([16, 8, 24])
    lr: float = 3e-4


class TinyLM(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.tok, self.pos = nn.Embedding(c.vocab, c.dim), nn.Embedding(c.block, c.dim)
        self.blocks = nn.TransformerEncoder(nn.TransformerEncoderLayer(c.dim, c.heads, c.dim * 4, batch_first=True), c.layers)
        self.lm_head = nn.Linear(c.dim, c.vocab, bias=False)

    def forward(self, ids):
        n = ids.size(1)
        h = self.tok(ids) + self.pos(torch.arange(n))
        return self.lm_head(self.blocks(h, mask=nn.Transformer.generate_square_subsequent_mask(n), is_causal=True))


def compute_loss(logits, ids):
    shift_logits = logits[:, :-1].contiguous()
    return nn.functional.cross_entropy(shift_logits.view(-1, shift_logits.size(-1)), ids.view(-1))


seed_everything()
cfg = Config()
print("config:", asdict(cfg))
corpus = torch.randint(0, cfg.vocab, (20_000,))
model = TinyLM(cfg)
optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr, weight_decay=0.1)
print(f"number of parameters: {sum(p.numel() for p in model.parameters()) / 1e6:.3f}M")
print(f"tokens per iteration: {cfg.batch * cfg.block}")
for step in range(200):
    starts = torch.randint(0, len(corpus) - cfg.block, (cfg.batch,)).tolist()
    ids = torch.stack([corpus[s:s + cfg.block] for s in starts])
    loss = compute_loss(model(ids), ids)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    print(f"iter {step}: loss {loss.item():.4f}")
