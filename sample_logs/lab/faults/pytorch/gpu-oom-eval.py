"""Training fits; evaluation keeps all logits on the card and runs out of memory.

cause: memory.oom-at-eval
also: [memory.cuda-oom]
not: [memory.cuda-fragmentation, memory.gpu-shared]
signature: 'CUDA out of memory'
runs_as: finetune.py
needs: [gpu]
kept: []
seconds: 300
"""

import torch
from labkit import note, pick, seed_everything

seed_everything()

total = torch.cuda.get_device_properties(0).total_memory
classes = pick([50000, 32000, 64000])
model = torch.nn.Linear(128, classes).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
rows = int(total * 0.04 / (classes * 4))


def evaluate():
    kept = []
    with torch.no_grad():
        for batch in range(200):
            kept.append(model(torch.randn(rows, 128, device="cuda")))
    return torch.cat(kept).mean()


for step in range(1, 21):
    loss = torch.nn.functional.cross_entropy(model(torch.randn(64, 128, device="cuda")), torch.randint(0, classes, (64,), device="cuda"))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.4f}")
    note("loss", step, float(f"{loss.item():.4f}"))
print("***** Running evaluation *****")
print(evaluate())
