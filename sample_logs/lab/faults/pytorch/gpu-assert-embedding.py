"""A token id is larger than the vocabulary: the embedding kernel asserts.

cause: cuda.device-side-assert
also: []
not: [memory.cuda-oom, cuda.illegal-memory-access]
signature: 'device-side assert triggered'
runs_as: train_lm.py
needs: [gpu]
kept: []
seconds: 300
"""

import torch
from labkit import note, pick, seed_everything

seed_everything()

vocabulary = pick([1000, 500, 32000])
model = torch.nn.Sequential(torch.nn.Embedding(vocabulary, 64), torch.nn.Linear(64, vocabulary)).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(1, 60):
    tokens = torch.randint(0, vocabulary, (8, 32))
    if step == pick([31, 22, 45]):
        tokens[3, 5] = vocabulary + 7
    loss = torch.nn.functional.cross_entropy(model(tokens[:, :-1].cuda()).flatten(0, 1), tokens[:, 1:].clamp(max=vocabulary - 1).cuda().flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.4f}")
    note("loss", step, float(f"{loss.item():.4f}"))
