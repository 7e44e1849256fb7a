"""Sampling from the model after training fails with the same words twice: once the loss climbed to inf over several steps, once it was calm until float16 overflowed.

cause: numerics.lr-divergence
signature: 'probability tensor contains either'
first_failure: 'loss:? ?(nan|inf)'
runs_as: train_char.py
variants:
  runup:
    story: The rate is far too high; the loss climbs over several steps before it is NaN, and sampling from the ruined model fails.
    cause: numerics.lr-divergence
    also: [numerics.gradient-explosion]
    not: [cuda.device-side-assert, code.user-exception, numerics.bad-batch]
  calm:
    story: The loss falls calmly until activations leave float16's range in one step, and sampling from the ruined model fails.
    cause: numerics.fp16-overflow
    also: []
    not: [cuda.device-side-assert, code.user-exception, numerics.lr-divergence]
"""

import torch
from labkit import VARIANT, note, pick, seed_everything

seed_everything()
rate = pick([110.0, 120.0, 100.0]) if VARIANT == "runup" else pick([20.0, 30.0, 25.0])
width = pick([48, 64, 56])
print(f"config = {{'vocab': 65, 'width': {width}, 'dtype': 'float16', 'lr': {rate}, 'max_iters': 120}}")
embed = torch.nn.functional.one_hot(torch.arange(65)).float() @ torch.nn.functional.normalize(torch.randn(65, width), dim=-1)
head = torch.nn.Linear(width, 65).to(torch.float16)
optimizer = torch.optim.SGD(head.parameters(), lr=rate)
text = torch.arange(4000) * 7 % 65
for step in range(120):
    start = torch.randint(0, 3900, (1,)).item()
    inputs, targets = text[start:start + 65], text[start + 1:start + 66]
    gain = 30000.0 if VARIANT == "calm" and step >= pick([84, 92, 71]) else 1.0
    logits = head((embed[inputs] * gain).to(torch.float16))
    loss = (logits - torch.nn.functional.one_hot(targets, 65)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"iter {step}: loss {loss.item():.5f}, lr {rate}")
    note("loss", step, float(f"{loss.item():.5f}"))
    note("learning_rate", step, rate)
with torch.no_grad():
    token = torch.multinomial(torch.softmax(head(embed[:1].to(torch.float16)).float(), -1), 1)
print("sample:", token.tolist())
