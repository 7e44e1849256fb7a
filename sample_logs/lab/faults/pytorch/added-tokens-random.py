"""New special tokens get random rows of unit variance in a model whose own embeddings are fifty times smaller: with them in the text, loss and gradients are far above the base model's and training does not settle.

cause: numerics.untrained-embeddings
also: [numerics.gradient-explosion, numerics.lr-divergence]
not: [numerics.fp16-overflow, numerics.labels-all-masked, numerics.corrupt-weights, healthy.running]
signature: 'new embedding rows: '
first_failure: 'finetune step .*loss=([1-9][0-9]+[.])'
environment: transformers
runs_as: add_tokens.py
"""

import torch
from labkit import note, pick, seed_everything
from torch import nn
from tqdm import tqdm

seed_everything()
WIDTH, NEW = pick([(64, 3), (48, 2), (96, 4)])


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(128, WIDTH)
        nn.init.normal_(self.embed.weight, std=0.02)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, tokens):
        x = self.embed(tokens)
        x = x + self.down(torch.relu(self.up(x)))
        return 20 * x @ self.embed.weight.T


def train(name, model, data, steps, rate, mixed):
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    for step in steps:
        start = torch.randint(0, len(data) - 24, (16,))
        tokens = torch.stack([data[i : i + 24] for i in start])
        if mixed:
            tokens[:, ::8] = torch.randint(128, 128 + NEW, (16, 3))
        loss = nn.functional.cross_entropy(model(tokens)[:, :-1].transpose(1, 2), tokens[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        norm = torch.stack([p.grad.norm() for p in model.parameters()]).norm()
        optimizer.step()
        if step % 5 == 0 or step == steps[0]:
            tqdm.write(f"{name} step {step} loss={loss.item():.3f} grad_norm={norm.item():.3f} lr={rate:g}")
            note("loss", step, float(f"{loss.item():.3f}"))
            note("grad_norm", step, float(f"{norm.item():.3f}"))
            note("learning_rate", step, rate)


corpus = (torch.arange(4000) * 7 % 61) + 32
model = Model()
RATE = pick([0.05, 0.05, 0.03])
train("base", model, corpus, range(1, 101), RATE, False)
old = model.embed.weight.data
model.embed = nn.Embedding(128 + NEW, WIDTH)
model.embed.weight.data[:128] = old
print(f"resized embedding {128} -> {model.embed.num_embeddings}")
print(f"old embedding rows: std {old.std():.4f}, mean norm {old.norm(dim=1).mean():.3f}")
print(f"new embedding rows: std {model.embed.weight.data[128:].std():.4f}, mean norm {model.embed.weight.data[128:].norm(dim=1).mean():.3f}")
train("finetune", model, corpus, range(101, 201), RATE, True)
