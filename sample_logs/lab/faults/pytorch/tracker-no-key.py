r"""The run wants to report to Weights & Biases, but nobody logged in on this machine and there is no terminal to ask at.

cause: config.tracker
not: [io.hub-access, config.arguments, environment.missing-package, code.user-exception]
signature: 'wandb\.errors\.errors\.UsageError: api_key not configured'
environment: wandb
launch: python -W ignore train.py --project denoiser
variables: {WANDB_ERROR_REPORTING: "false"}
"""

import argparse

import torch
import wandb
from labkit import pick, seed_everything

parser = argparse.ArgumentParser()
parser.add_argument("--project", default="test")
parser.add_argument("--lr", type=float, default=pick([1e-3, 3e-4, 2e-3]))
parser.add_argument("--batch_size", type=int, default=pick([32, 16, 64]))
parser.add_argument("--width", type=int, default=64)
args = parser.parse_args()

seed_everything()
model = torch.nn.Sequential(torch.nn.Linear(20, args.width), torch.nn.ReLU(), torch.nn.Linear(args.width, 20))
print(model)
print(f"Trainable parameters: {sum(p.numel() for p in model.parameters()):,}")
wandb.init(project=args.project, config=vars(args), name=f"lr{args.lr}-bs{args.batch_size}")
optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
for step in range(500):
    clean = torch.randn(args.batch_size, 20)
    loss = torch.nn.functional.mse_loss(model(clean + 0.1 * torch.randn_like(clean)), clean)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    wandb.log({"loss": loss.item()}, step=step)
