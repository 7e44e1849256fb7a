"""The first run used one parameter group, the resumed one has two (no decay for biases) or trains more layers: the optimiser's state does not fit.

cause: checkpoint.resume-mismatch
also: [checkpoint.shape-mismatch]
not: [checkpoint.corrupt, checkpoint.key-mismatch, code.user-exception]
signature: 'ValueError: loaded state dict (has a different number of parameter groups|contains a parameter group)'
runs_as: train.py
launch: |
  python train.py --stage 1
  echo '--------- stage 2 ---------'
  python train.py --stage 2
"""

import argparse

import torch
from labkit import note, pick, seed_everything
from torch import nn

seed_everything()
cli = argparse.ArgumentParser()
cli.add_argument("--stage", type=int, required=True)
stage = cli.parse_args().stage
net = nn.ModuleDict({"body": nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU()), "head": nn.Linear(32, 4)})
mode = pick(["groups", "unfrozen", "groups"])
if stage == 1:
    groups = [{"params": [*net["head"].parameters()] if mode == "unfrozen" else [*net.parameters()]}]
elif mode == "groups":
    groups = [{"params": [p for p in net.parameters() if p.ndim > 1], "weight_decay": 0.05}, {"params": [p for p in net.parameters() if p.ndim == 1], "weight_decay": 0.0}]
else:
    groups = [{"params": [*net.parameters()]}]
optimizer = torch.optim.AdamW(groups, lr=pick([1e-3, 5e-4, 2e-3]))
print(f"stage {stage}: {len(groups)} parameter group(s) with {[len(g['params']) for g in groups]} tensors")
if stage == 2:
    saved = torch.load("stage1.pt")
    net.load_state_dict(saved["net"])
    print(f"weights of stage 1 loaded (loss was {saved['loss']:.4f})")
    optimizer.load_state_dict(saved["optimizer"])
    print("optimizer state loaded")
x = torch.randn(512, 16)
y = x[:, :4].argmax(1)
for step in range(1, 31):
    loss = nn.functional.cross_entropy(net["head"](net["body"](x)), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 3 == 0:
        print(f"step {step:3d} loss {loss.item():.4f}")
        note("loss", step, round(loss.item(), 4))
torch.save({"net": net.state_dict(), "optimizer": optimizer.state_dict(), "loss": loss.item()}, f"stage{stage}.pt")
