"""torch.compile on the card, with inductor's chatter about autotuning, to the end.

cause: healthy.completed
also: [healthy.running]
not: [code.torch-compile, learning.plateau, memory.cuda-oom, performance.slow]
outcome: completed
runs_as: train_compiled.py
variables: {TORCH_LOGS: '+recompiles,graph_breaks'}
needs: [gpu]
kept: []
seconds: 300
"""

import torch
from labkit import note, pick, seed_everything

seed_everything()
torch.set_float32_matmul_precision("high")
net = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.GELU(), torch.nn.Linear(256, 8)).cuda()
opt = torch.optim.AdamW(net.parameters(), pick([3e-3, 2e-3, 5e-3]))
w = torch.randn(64, 8, device="cuda")


@torch.compile
def loss_of(x):
    h = net(x)
    if x.shape[0] == 32:
        print("short batch")
    return torch.nn.functional.cross_entropy(h, (x @ w).argmax(1))


for step in range(1, 121):
    loss = loss_of(torch.randn(32 if step % 50 == 0 else 64, 64, device="cuda"))
    opt.zero_grad(); loss.backward(); opt.step()
    if step % 5 == 0:
        print(f"step {step:5d} | train loss {loss.item():.6f} | norm 0.4312 | lr 3.00e-03 | (31.02 ms | 16512 tok/s)")
        note("loss", step, float(f"{loss.item():.6f}"))
