"""At the first checkpoint the averaged weights are copied on the card beside model, gradients and states.

cause: memory.oom-at-load-or-save
also: [memory.cuda-oom]
not: [memory.cuda-fragmentation, memory.gpu-shared, memory.cuda-leak, memory.oom-at-eval]
signature: 'CUDA out of memory'
runs_as: train_dit.py
needs: [gpu]
kept: []
seconds: 300
"""

import copy
import logging
import torch
from labkit import note, pick, seed_everything

logging.basicConfig(level=logging.INFO, format="[\033[34m%(asctime)s\033[0m] %(message)s", datefmt="%Y-%m-%d %H:%M:%S")
logger = logging.getLogger(__name__)
seed_everything()
total = torch.cuda.get_device_properties(0).total_memory
layers = int(total * pick([0.215, 0.22, 0.21]) / (16384 * 16384 * 4))
model = torch.nn.ModuleList([torch.nn.Linear(16384, 16384, bias=False, device="cuda") for _ in range(layers)])
opt = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=0, foreach=False)
logger.info("Experiment directory created at results/000-DiT-XL-2")
logger.info(f"DiT Parameters: {sum(p.numel() for p in model.parameters()):,}")
logger.info("Training for 1400 epochs...")
for step in range(1, 5):
    x = torch.randn(8, 16384, device="cuda")
    loss = sum((layer(x) - 0.1 * x).pow(2).mean() for layer in model) / layers
    loss.backward()
    opt.step()
    for p in model.parameters():
        p.grad.zero_()
    logger.info(f"(step={step:07d}) Train Loss: {loss.item():.4f}, Train Steps/Sec: 0.{30 + step}")
    note("loss", step, float(f"{loss.item():.4f}"))
logger.info("Saving checkpoint to results/000-DiT-XL-2/checkpoints/0000004.pt")
checkpoint = {"model": model.state_dict(), "ema": copy.deepcopy(model).state_dict(), "opt": opt.state_dict()}
torch.save(checkpoint, "0000004.pt")
