"""accelerator.save_state on a disk that fills up: torch's zip writer fails with a message of its own ("unexpected pos") and never names the disk; the free space printed before does.

cause: io.disk-full
also: [checkpoint.save-failed]
not: [checkpoint.corrupt, io.permission, memory.host-oom]
signature: 'RuntimeError: .*(unexpected pos|PytorchStreamWriter failed|file write failed)'
first_failure: '^(RuntimeError|OSError|.*SafetensorError)'
needs: [tmpfs]
runs_as: train_loop.py
launch: |
  SIZES=(26 33 45)
  export DISK=${SIZES[$LAB_SEED]}m
  unshare -m bash -c 'mkdir -p ckpt && mount -t tmpfs -o size=$DISK tmpfs ckpt && python train_loop.py'
environment: transformers
"""

import shutil

import torch
from accelerate import Accelerator
from labkit import note, pick, seed_everything
from transformers import LlamaConfig, LlamaForCausalLM

seed_everything()
accelerator = Accelerator(cpu=True)
width = pick([128, 160, 192])
model = LlamaForCausalLM(LlamaConfig(vocab_size=1000, hidden_size=width, intermediate_size=2 * width, num_hidden_layers=2, num_attention_heads=4))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
tokens = (torch.randint(0, 1000, (320, 1)) + torch.arange(24)) % 1000
model, optimizer, loader = accelerator.prepare(model, optimizer, torch.utils.data.DataLoader(tokens, batch_size=4, shuffle=True))
print(f"{sum(p.numel() for p in model.parameters()) / 1e6:.2f} M parameters, {len(loader)} steps an epoch")
for step, batch in enumerate(loader, 1):
    loss = model(input_ids=batch, labels=batch).loss
    accelerator.backward(loss)
    optimizer.step()
    optimizer.zero_grad()
    if step % 4 == 0:
        print(f"step {step:4d} | loss {loss.item():.3f}")
        note("loss", step, float(f"{loss.item():.3f}"))
    if step % 16 == 0:
        print(f"saving ckpt/step-{step} ({shutil.disk_usage('ckpt').free / 2**20:.1f} MiB free)")
        accelerator.save_state(f"ckpt/step-{step}")
