import sys

import torch
from labkit import note, pick, seed_everything

seed_everything()
print(f"Python {sys.version.split()[0]} on {sys.platform}")
print(f"PyTorch {torch.__version__.split('+')[0]}, {torch.get_num_threads()} thread(s)")
model = torch.nn.Linear(pick([64, 32, 48]), 8)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(1, 6):
    x = torch.randn(32, model.in_features)
    loss = torch.nn.functional.cross_entropy(model(x), x[:, :8].argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"warm-up {step}/5 loss {loss.item():.4f}")
    note("loss", step, round(loss.item(), 4))
print("warm-up done, loading the fast tokenizer")
import flashtok

print("tokens", flashtok.encode(1.0))
