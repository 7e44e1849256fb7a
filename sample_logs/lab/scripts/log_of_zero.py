"""A hand-written loss takes the logarithm of a probability that is exactly 0; anomaly mode names the operation.

cause: numerics.unstable-op
also: []
not: [numerics.lr-divergence, numerics.fp16-overflow, code.user-exception]
signature: "RuntimeError: Function 'LogBackward0' returned nan values in its 0th output."
"""

import torch

torch.manual_seed(0)
torch.autograd.set_detect_anomaly(True)
model = torch.nn.Linear(16, 4)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(50):
    inputs, labels = torch.randn(8, 16) * (1 + 40 * (step == 30)), torch.randint(4, (8,))
    probabilities = torch.softmax(model(inputs) * 4, dim=-1)
    chosen = torch.nn.functional.one_hot(labels, 4) * torch.log(torch.relu(probabilities - 1e-6))
    loss = -chosen.sum(-1).mean()
    print(f"step {step} loss {loss.item():.4f}")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
