"""accelerator.load_state resumes from a state whose optimizer has other parameter groups (weight decay was split off since).

cause: checkpoint.resume-mismatch
also: [checkpoint.key-mismatch]
not: [checkpoint.corrupt, checkpoint.shape-mismatch, code.shape-mismatch]
signature: "ValueError: loaded state dict (contains a parameter group|has a different number of parameter groups)"
runs_as: pretrain.py
launch: |
  python pretrain.py --steps 24
  python pretrain.py --steps 48 --resume ckpt/step-24 --decay_groups
environment: transformers
"""

import argparse

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from labkit import note, pick, seed_everything
from transformers import GPT2Config, GPT2LMHeadModel

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int)
parser.add_argument("--resume")
parser.add_argument("--decay_groups", action="store_true")
cli = parser.parse_args()
seed_everything()
set_seed(17)
accelerator = Accelerator(cpu=True)
model = GPT2LMHeadModel(GPT2Config(vocab_size=200, n_positions=64, n_embd=48, n_layer=pick([2, 3, 2]), n_head=4, bos_token_id=0, eos_token_id=0))
groups = [{"params": list(model.parameters())}]
if cli.decay_groups:
    groups = [{"params": [p for p in model.parameters() if p.dim() > 1], "weight_decay": 0.1}, {"params": [p for p in model.parameters() if p.dim() < 2], "weight_decay": 0.0}]
optimizer = torch.optim.AdamW(groups, lr=pick([1e-3, 2e-3, 5e-4]))
accelerator.print(f"optimizer with {len(groups)} parameter group(s): {[len(group['params']) for group in groups]} tensors")
tokens = (torch.randint(0, 200, (400, 1)) + torch.arange(24)) % 200
model, optimizer, loader = accelerator.prepare(model, optimizer, torch.utils.data.DataLoader(tokens, batch_size=8, shuffle=True))
start = 0
if cli.resume:
    accelerator.print(f"resuming from {cli.resume}")
    accelerator.load_state(cli.resume)
    start = int(cli.resume.rsplit("-", 1)[1])
for step, batch in enumerate(loader, start + 1):
    loss = model(input_ids=batch, labels=batch).loss
    accelerator.backward(loss)
    norm = accelerator.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
    accelerator.print(f"step={step} loss={loss.item():.4f} grad_norm={norm.item():.3f}")
    note("loss", step, float(f"{loss.item():.4f}"))
    note("grad_norm", step, float(f"{norm.item():.3f}"))
    if step == cli.steps:
        accelerator.save_state(f"ckpt/step-{step}")
        break
