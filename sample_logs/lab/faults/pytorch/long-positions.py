"""A small GPT has 64 learnt positions, the packed corpus holds a document that is longer: the position embedding is asked for rows that it lacks.

cause: data.sequence-too-long
not: [code.shape-mismatch, config.tokenizer, cuda.device-side-assert, data.collation]
signature: 'IndexError: index out of range in self'
"""

import time

import torch
from labkit import note, pick, seed_everything
from torch import nn

BLOCK = pick([64, 48, 96])
seed_everything()


class GPT(nn.Module):
    def __init__(self, vocab=96, width=32, heads=2, layers=2):
        super().__init__()
        self.wte = nn.Embedding(vocab, width)
        self.wpe = nn.Embedding(BLOCK, width)
        self.blocks = nn.ModuleList(nn.TransformerEncoderLayer(width, heads, 4 * width, dropout=0.0, batch_first=True, norm_first=True) for _ in range(layers))
        self.head = nn.Linear(width, vocab, bias=False)

    def forward(self, tokens):
        x = self.wte(tokens) + self.wpe(torch.arange(tokens.size(1)))
        mask = nn.Transformer.generate_square_subsequent_mask(tokens.size(1))
        for block in self.blocks:
            x = block(x, mask)
        return self.head(x)


def documents(count):
    lengths = torch.randint(12, BLOCK, (count,)).tolist()
    lengths[pick([140, 90, 171])] = BLOCK + pick([9, 40, 2])
    return [(torch.arange(length + 1) * torch.randint(1, 4, (1,)) + torch.randint(0, 96, (1,))) % 96 for length in lengths]


model = GPT()
print(f"number of parameters: {sum(p.numel() for p in model.parameters()) / 1e6:.2f}M")
print(f"config: block_size={BLOCK} vocab_size=96 n_layer=2 n_head=2 n_embd=32")
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, betas=(0.9, 0.95))
corpus = documents(200)
for iteration, document in enumerate(corpus):
    started = time.time()
    logits = model(document[None, :-1])
    loss = nn.functional.cross_entropy(logits[0], document[1:])
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    if iteration % 5 == 0:
        print(f"iter {iteration}: tokens {document.numel() - 1}, loss {loss.item():.4f}, time {1000 * (time.time() - started):.2f}ms")
        note("loss", iteration, float(f"{loss.item():.4f}"))
