"""A loss that is NaN out of a calm, falling curve under automatic precision: on a card without bfloat16 that is float16, on one with it bfloat16, and only the dump tells which card it was.

cause: numerics.fp16-overflow
signature: 'loss (nan|inf)'
runs_as: train_sft.py
dumps:
  - {name: v100, file: v100-torch-2.1.2.env, cause: numerics.fp16-overflow, also: [], not: [numerics.lr-divergence, healthy.running], why: "A V100 has no bfloat16, so automatic precision is float16 there."}
  - {name: a100, file: a100-torch-2.1.2.env, cause: numerics.nonfinite-unknown, also: [numerics.bad-batch, numerics.unstable-op], not: [numerics.fp16-overflow, numerics.lr-divergence], why: "An A100 takes bfloat16, which has the range of float32."}
note: the run computes in float16 on the CPU; the second dump tells another story of the same lines.
"""

import torch
from labkit import note, pick, seed_everything

seed_everything()
rate, width, calm = pick([1e-4, 2e-4, 5e-5]), pick([128, 96, 160]), pick([52, 44, 60])
print(f"args: precision=auto (bfloat16 if compute capability >= 8.0 else float16), lr={rate}, batch_size=16, hidden={width}")
model = torch.nn.Sequential(torch.nn.Linear(32, width), torch.nn.GELU(), torch.nn.Linear(width, 32)).to(torch.float16)
optimizer = torch.optim.SGD(model.parameters(), lr=rate * 100)
inputs = torch.randn(64, 32)
for step in range(1, 81):
    rows = inputs[torch.randint(0, 64, (16,))] * (1.0 if step < calm else 5000.0)
    predicted = model(rows.to(torch.float16))
    loss = (predicted - rows.to(torch.float16)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 4 == 0:
        print(f"step {step}/80 loss {loss.item():.4f} lr {rate:.1e}")
        note("loss", step, float(f"{loss.item():.4f}"))
        note("learning_rate", step, rate)
