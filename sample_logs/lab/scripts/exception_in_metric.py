"""The user's own metric function divides by the number of positives, which is 0 in one batch.

cause: code.user-exception
also: []
not: [numerics.unstable-op, data.empty, environment.version-incompatible]
signature: 'ZeroDivisionError: division by zero'
"""

import torch

torch.manual_seed(2)


def recall(predicted: torch.Tensor, labels: torch.Tensor) -> float:
    """Share of the positives that were found."""
    positives = int((labels == 1).sum())
    return int(((predicted == 1) & (labels == 1)).sum()) / positives


model = torch.nn.Linear(8, 2)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(100):
    inputs, labels = torch.randn(4, 8), torch.randint(0, 2, (4,))
    logits = model(inputs)
    loss = torch.nn.functional.cross_entropy(logits, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step}: loss={loss.item():.4f} recall={recall(logits.argmax(-1), labels):.2f}")
