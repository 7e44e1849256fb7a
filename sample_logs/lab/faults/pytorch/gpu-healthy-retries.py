"""Amp's first overflows, a NaN metric of an absent class, a failed tracker and a warning of cuDNN: all harmless, the run ends well.

cause: healthy.completed
also: [healthy.running]
not: [numerics.fp16-overflow, numerics.nonfinite-unknown, config.tracker, cuda.cudnn, numerics.loss-scale-exhausted]
outcome: completed
runs_as: train_det.py
needs: [gpu]
kept: []
seconds: 300
"""

import logging
import torch
from labkit import note, pick, seed_everything

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(levelname)s: %(message)s", datefmt="[%m/%d %H:%M:%S]")
logger = logging.getLogger("det")
seed_everything()
try:
    torch.ones(1).cuda().cudnn_version
except AttributeError as error:
    logger.warning(f"could not read cudnn version ({error}); continuing")
logger.warning("tracker: ConnectionError: could not reach localhost:5000, metrics are written to runs/metrics.jsonl only")
net = torch.nn.Sequential(torch.nn.Linear(32, 256), torch.nn.ReLU(), torch.nn.Linear(256, 5)).cuda()
opt = torch.optim.AdamW(net.parameters(), pick([2e-3, 3e-3, 1e-3]))
scaler = torch.amp.GradScaler(init_scale=2.0**24)
w = torch.randn(32, 5, device="cuda")
for it in range(1, 241):
    x = torch.randn(128, 32, device="cuda")
    with torch.autocast("cuda", torch.float16):
        loss = torch.nn.functional.cross_entropy(net(x), (x @ w).argmax(1))
    opt.zero_grad()
    scaler.scale(loss).backward()
    old = scaler.get_scale()
    scaler.step(opt)
    scaler.update()
    if scaler.get_scale() < old:
        logger.warning(f"iter {it}: inf in gradients, step skipped, scale {old:g} -> {scaler.get_scale():g}")
    if it % 20 == 0:
        logger.info(f"eta: 0:00:{(240 - it) // 20:02d}  iter: {it}  total_loss: {loss.item():.4f}  time: 0.0313  data_time: 0.0021  lr: 0.002  max_mem: {torch.cuda.max_memory_allocated() // 2**20}M")
        note("loss", it, float(f"{loss.item():.4f}"))
logger.info("copypaste: AP,AP50,AP75,APs,APm,APl")
logger.info("copypaste: 31.2041,52.1120,33.0482,nan,29.8813,41.0021")
