"""Weights in float16 with AdamW's default epsilon: the squared gradients round to zero and the first updates are infinite.

cause: numerics.fp16-overflow
also: [numerics.nonfinite-unknown]
not: [numerics.bad-batch, numerics.lr-divergence, memory.cuda-oom]
signature: 'nan'
runs_as: train_half.py
needs: [gpu]
kept: []
seconds: 300
"""

import torch
from labkit import note, pick, seed_everything

seed_everything()
net = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.GELU(), torch.nn.Linear(128, 10)).cuda().half()
opt = torch.optim.AdamW(net.parameters(), lr=pick([1e-4, 2e-4, 5e-5]), foreach=False)
print(f"params: {sum(p.numel() for p in net.parameters())} dtype: {next(net.parameters()).dtype} optimizer: AdamW(eps=1e-08)")
for step in range(1, 21):
    x, y = torch.randn(256, 64, device="cuda").half(), torch.randint(0, 10, (256,), device="cuda")
    loss = torch.nn.functional.cross_entropy(net(x).float(), y)
    opt.zero_grad(); loss.backward(); opt.step()
    print({"step": step, "train/loss": round(loss.item(), 4), "train/lr": opt.param_groups[0]["lr"]})
    note("loss", step, round(loss.item(), 4))
