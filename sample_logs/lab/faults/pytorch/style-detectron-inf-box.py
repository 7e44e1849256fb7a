"""Box regression exponentiates its raw output: a large one overflows to inf, printed as detectron2 does, and the trainer stops.

cause: numerics.unstable-op
also: [numerics.gradient-explosion, numerics.nonfinite-unknown]
not: [numerics.bad-batch, numerics.fp16-overflow, memory.cuda-oom]
signature: 'Loss became infinite or NaN'
runs_as: train_net.py
kept: []
"""
import torch
from labkit import note, pick, seed_everything
from torch import nn

seed_everything()
print("[06/14 10:00:00 d2.engine.train_loop]: Starting training from iteration 0")
cls, box = nn.Linear(32, 4), nn.Linear(32, 4)
opt = torch.optim.SGD([*cls.parameters(), *box.parameters()], lr=0.02)
for it in range(400):
    x = torch.randn(32, 32)
    y = (x[:, 0] > 0).long()
    wide = 1.0 if it < pick([173, 211, 259]) else 60.0
    loss_cls = nn.functional.cross_entropy(cls(x), y)
    sizes = torch.exp(box(x * torch.tensor([wide]).expand(32, 1) if it % 7 == 0 else x))
    loss_box = (sizes - torch.exp(x[:, :4] / 4)).abs().mean() * 0.1
    losses = loss_cls + loss_box
    if not torch.isfinite(losses):
        raise FloatingPointError(f"Loss became infinite or NaN at iteration={it}!\nloss_dict = {{'loss_cls': {loss_cls.item()}, 'loss_box_reg': {loss_box.item()}}}")
    opt.zero_grad()
    losses.backward()
    nn.utils.clip_grad_value_([*cls.parameters(), *box.parameters()], 0.05)
    opt.step()
    if it % 20 == 19:
        print(f"[06/14 10:00:{it % 60:02d} d2.utils.events]:  eta: 0:01:{(400 - it) // 8:02d}  iter: {it}  total_loss: {losses.item():.4g}  loss_cls: {loss_cls.item():.4g}  loss_box_reg: {loss_box.item():.4g}  time: 0.0121  data_time: 0.0010  lr: 0.02  max_mem: 0M")
        note("loss", it, float(f"{losses.item():.4g}"))
