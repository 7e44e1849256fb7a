"""A post-norm transformer with the inverse-root schedule, run with no warm-up steps: the first rate is the highest, some hundred times the usual peak, the loss rises at once to several times its start and stays above it.

cause: numerics.lr-divergence
also: [learning.plateau, learning.collapse, numerics.gradient-explosion]
not: [numerics.fp16-overflow, numerics.bad-batch, healthy.running, healthy.completed]
signature: 'loss=([6-9]|[1-9][0-9]+)[.]'
runs_as: train_seq.py
launch: python train_seq.py --warmup-steps 0
"""

import argparse

import torch
from labkit import note, pick, seed_everything
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--factor", type=float, default=pick([8.0, 6.0, 10.0]))
parser.add_argument("--warmup-steps", type=int, default=400)
parser.add_argument("--max-steps", type=int, default=100)
parser.add_argument("--layers", type=int, default=pick([4, 3, 5]))
args = parser.parse_args()
seed_everything()
tokens = torch.arange(5000) * 5 % 41
layer = nn.TransformerEncoderLayer(64, 4, 128, dropout=0.0, batch_first=True, norm_first=False)
model = nn.ModuleDict({"embed": nn.Embedding(41, 64), "body": nn.TransformerEncoder(layer, args.layers, enable_nested_tensor=False), "head": nn.Linear(64, 41)})
optimizer = torch.optim.Adam(model.parameters(), lr=1.0, betas=(0.9, 0.98))


def rate_at(step):
    step += 1
    scale = args.factor * 64**-0.5
    return scale * min(step**-0.5, step * args.warmup_steps**-1.5) if args.warmup_steps else scale * step**-0.5


scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, rate_at)
print(f"*** training: layers={args.layers} post-norm, schedule=inverse_sqrt, factor={args.factor}, warmup_steps={args.warmup_steps}, steps={args.max_steps}")
for step in range(1, args.max_steps + 1):
    at = torch.randint(0, len(tokens) - 17, (16,))
    x, y = torch.stack([tokens[i : i + 16] for i in at]), torch.stack([tokens[i + 1 : i + 17] for i in at])
    mask = nn.Transformer.generate_square_subsequent_mask(16)
    loss = nn.functional.cross_entropy(model["head"](model["body"](model["embed"](x), mask=mask)).transpose(1, 2), y)
    optimizer.zero_grad()
    loss.backward()
    norm = torch.stack([p.grad.norm() for p in model.parameters()]).norm()
    rate = scheduler.get_last_lr()[0]
    optimizer.step()
    scheduler.step()
    print(f"step={step} loss={loss.item():.4f} grad_norm={norm.item():.4f} lr={rate:.3e}")
    note("loss", step, float(f"{loss.item():.4f}"))
    note("grad_norm", step, float(f"{norm.item():.4f}"))
    note("learning_rate", step, float(f"{rate:.3e}"))
