"""float16 weights and activations, computed natively on the CPU: the activations leave the range of float16 and the loss turns NaN out of a calm curve.

cause: numerics.fp16-overflow
also: []
not: [numerics.lr-divergence, numerics.labels-all-masked, healthy.running]
signature: 'loss nan'
"""

import torch

torch.manual_seed(0)
print("config: {'torch_dtype': 'float16', 'learning_rate': 0.0001, 'optimizer': 'SGD'}")
model = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 64)).to(torch.float16)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
for step in range(60):
    scale = 1.0 if step < 40 else 60000.0     # a bf16-range activation reaches a float16 layer
    inputs = torch.randn(16, 64).to(torch.float16)
    hidden = model(inputs) * scale
    loss = (hidden - hidden.mean()).pow(2).mean() / scale
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 2 == 0:
        print(f"iter {step} loss {loss.item():.4f} dtype float16 lr 0.0001")
