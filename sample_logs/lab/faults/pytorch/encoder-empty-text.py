"""A text encoder with a key padding mask meets an empty text: all its keys are masked, attention returns NaN for that row and the optimizer carries it into all weights.

cause: numerics.padding-or-mask
also: [numerics.bad-batch, numerics.nonfinite-unknown]
not: [numerics.lr-divergence, numerics.fp16-overflow, numerics.corrupt-weights, healthy.running]
signature: 'loss +nan'
runs_as: train_encoder.py
"""

import sys

import torch
from labkit import note, pick, seed_everything
from torch import nn

seed_everything()
WIDTH, HEADS = pick([(32, 4), (48, 4), (32, 2)])


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(300, WIDTH, padding_idx=0)
        self.attention = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 2)

    def forward(self, tokens):
        x = self.embed(tokens)
        mixed, weights = self.attention(x, x, x, key_padding_mask=tokens == 0)
        return self.head(self.norm(x + mixed).mean(1)), weights


empty = pick([1091, 800, 1411])
texts = []
for number in range(1600):
    length = 0 if number == empty else int(torch.randint(4, 24, (1,)))
    texts.append(torch.randint(1, 300, (length,)))
labels = torch.tensor([int((text > 150).float().mean().nan_to_num() > 0.5) for text in texts])
model = Encoder()
optimizer = torch.optim.AdamW(model.parameters(), lr=pick([1e-3, 5e-4, 2e-3]))
for step in range(1, 101):
    rows = torch.arange((step - 1) * 16, step * 16)
    batch = nn.utils.rnn.pad_sequence([texts[i] for i in rows], batch_first=True)
    logits, weights = model(batch)
    loss = nn.functional.cross_entropy(logits, labels[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    lengths = [len(texts[i]) for i in rows]
    accuracy = (logits.argmax(-1) == labels[rows]).float().mean().item()
    sys.stdout.write(f"step {step:>4d}  loss {loss.item():>8.4f}  acc {accuracy:.3f}  len min {min(lengths):>2d} max {max(lengths):>2d}  unmasked keys per row, least {(batch != 0).sum(1).min().item():>2d}\n")
    note("loss", step, float(f"{loss.item():.4f}"))
