"""Loss scaling in vain: an inf in every gradient makes the scaler halve its scale at each step, down to nothing; no weight ever moves.

cause: numerics.fp16-overflow
also: [numerics.loss-scale-exhausted]
not: [healthy.completed, numerics.lr-divergence, memory.cuda-oom, learning.plateau]
signature: 'skipped'
runs_as: main_amp.py
needs: [gpu]
kept: []
seconds: 300
"""

import torch
from labkit import note, pick, seed_everything

seed_everything()
net = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 8)).cuda()
opt = torch.optim.SGD(net.parameters(), 0.01)
scaler = torch.amp.GradScaler()
for i in range(1, 61):
    x, y = torch.randn(64, 64, device="cuda"), torch.randint(0, 8, (64,), device="cuda")
    with torch.autocast("cuda", torch.float16):
        out = net(x)
        energy = (out.half() * pick([900.0, 1200.0, 1500.0])).square().sum() * 0  # overflows in half precision
        loss = torch.nn.functional.cross_entropy(out.float(), y) + 1e-4 * (out * 900).half().square().sum()
    opt.zero_grad()
    scaler.scale(loss).backward()
    before = scaler.get_scale()
    scaler.step(opt)
    scaler.update()
    if scaler.get_scale() < before:
        print(f"Gradient overflow.  step skipped, reducing loss scale {before:g} -> {scaler.get_scale():g}  (fp16, O1)")
    print(f"Epoch: [0][{i}/60]\tLoss {loss.item():.6f}\tPrec@1 {(out.argmax(1) == y).float().mean().item() * 100:.3f}")
    note("loss", i, float(f"{loss.item():.6f}"))
