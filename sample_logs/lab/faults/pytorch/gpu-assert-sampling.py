"""A half-precision model's activations leave float16's range in one layer; sampling from the NaN probabilities asserts on the card.

cause: numerics.fp16-overflow
also: [cuda.device-side-assert, numerics.nonfinite-unknown]
not: [memory.cuda-oom, cuda.illegal-memory-access, data.schema]
signature: 'probability tensor contains|device-side assert triggered'
first_failure: 'non-finite|nan'
runs_as: chat.py
needs: [gpu]
kept: []
seconds: 300
"""

import torch
from labkit import pick, seed_everything

seed_everything()
torch.set_grad_enabled(False)
print("Loading checkpoint shards: 100%|██████████| 3/3 [00:02<00:00,  1.34it/s]")
dtype = torch.float16
vocabulary, width = 3200, 512
embed = torch.nn.Embedding(vocabulary, width).cuda().to(dtype)
up, down = torch.nn.Linear(width, 4 * width).cuda().to(dtype), torch.nn.Linear(4 * width, width).cuda().to(dtype)
head = torch.nn.Linear(width, vocabulary).cuda().to(dtype)
print(f"model loaded in torch.float16 on {torch.cuda.get_device_name(0)} (weights were trained in bfloat16)")
up.weight.mul_(pick([60, 80, 70]))
tokens = torch.randint(0, vocabulary, (1, 8), device="cuda")
for step in range(32):
    x = embed(tokens[:, -1])
    h = down(up(x) * up(x).abs() * (step + 1))
    logits = head(h)
    print(f"token {step}: max |hidden| {h.abs().max().item():.1f} max logit {logits.max().item():.3f}")
    probs = torch.softmax(logits / 0.7, dim=-1)
    tokens = torch.cat([tokens, torch.multinomial(probs, 1)], 1)
print(tokens.tolist())
