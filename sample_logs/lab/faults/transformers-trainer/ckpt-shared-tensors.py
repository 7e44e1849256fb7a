"""Weights that share memory (tied embeddings) are written with safetensors' save_file, which refuses.

cause: checkpoint.save-failed
also: [code.user-exception]
not: [io.disk-full, io.permission, checkpoint.corrupt]
signature: 'Some tensors share memory'
first_failure: '^RuntimeError:'
runs_as: train_lm.py
launch: python train_lm.py
"""

import torch
from labkit import note, pick, seed_everything
from safetensors.torch import save_file
from torch import nn

seed_everything()


class LM(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.embed, self.rnn, self.head = nn.Embedding(vocab, dim), nn.GRU(dim, dim, batch_first=True), nn.Linear(dim, vocab, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, ids):
        return self.head(self.rnn(self.embed(ids))[0])


vocab = pick([80, 120, 60])
model = LM(vocab, pick([32, 24, 48]))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for step in range(1, 21):
    ids = torch.arange(16).add(torch.randint(0, vocab, (8, 1))) % vocab
    loss = nn.functional.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step: {step}, loss: {loss.item():.4f}")
    note("loss", step, round(loss.item(), 4))
print("saving model.safetensors")
save_file(model.state_dict(), "model.safetensors")
