"""A class label equals the number of classes: the loss kernel asserts.

cause: cuda.device-side-assert
also: []
not: [memory.cuda-oom, cuda.cublas, cuda.illegal-memory-access]
signature: 'device-side assert triggered'
runs_as: classify.py
needs: [gpu]
kept: []
seconds: 300
"""

import torch
from labkit import pick, seed_everything

seed_everything()

classes = pick([10, 5, 100])
model = torch.nn.Linear(32, classes).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    for step in range(20):
        labels = torch.randint(0, classes + (1 if epoch == 1 and step > 4 else 0), (256,), device="cuda")
        loss = torch.nn.functional.cross_entropy(model(torch.randn(256, 32, device="cuda")), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"epoch {epoch} step {step} loss {loss.item():.4f}")
