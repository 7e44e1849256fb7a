"""Two batches are too large; the loop says so, empties the cache, skips them and trains to the end.

cause: healthy.completed
also: [healthy.running]
not: [memory.cuda-oom, memory.cuda-fragmentation, memory.cuda-leak]
outcome: completed
runs_as: train_asr.py
needs: [gpu]
kept: []
seconds: 300
"""

import logging
import torch
from labkit import note, pick, seed_everything

logging.basicConfig(level=logging.INFO, format="%(asctime)s (%(module)s:%(lineno)d) %(levelname)s: %(message)s")
seed_everything()
net = torch.nn.Sequential(torch.nn.Linear(80, 4096), torch.nn.ReLU(), torch.nn.Linear(4096, 80)).cuda()
opt = torch.optim.AdamW(net.parameters(), pick([1e-3, 2e-3, 5e-4]))
logging.info("The number of nodes is set to 1.")
for batch in range(1, 161):
    frames = 40_000_000 if batch in (61, 133) else 12000
    try:
        x = torch.randn(frames, 80, device="cuda")
        loss = (net(x) - x).pow(2).mean()
        opt.zero_grad(); loss.backward(); opt.step()
    except torch.cuda.OutOfMemoryError as e:
        logging.warning(f"| WARNING: ran out of memory, skipping batch {batch} ({frames} frames): {e}")
        x = loss = None
        opt.zero_grad(set_to_none=True)
        torch.cuda.empty_cache()
        continue
    if batch % 10 == 0:
        logging.info(f"1epoch:train:{batch - 9}-{batch}batch: iter_time=0.012, forward_time=0.031, loss={loss.item():.4f}, backward_time=0.044, optim0_lr0=0.001, train_time=0.101")
        note("loss", batch, float(f"{loss.item():.4f}"))
logging.info("1epoch results: [train] done. The training was finished at 1 epochs")
