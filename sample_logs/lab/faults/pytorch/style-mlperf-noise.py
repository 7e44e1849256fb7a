"""A healthy run among harmless noise: deprecation warnings, a retry that works, nan for an absent class, a skipped first step of the scaler.

cause: healthy.completed
also: [healthy.running]
not: [numerics.fp16-overflow, numerics.nonfinite-unknown, config.tracker, numerics.loss-scale-exhausted, io.hub-access]
outcome: completed
signature: ''
runs_as: train_det.py
kept: []
"""
import logging
import warnings
import torch
from labkit import note, pick, seed_everything

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(levelname)s: %(message)s", datefmt="[%m/%d %H:%M:%S]")
logger = logging.getLogger("det")
seed_everything()
warnings.warn("`resume_download` is deprecated and will be removed in version 1.0.0.", FutureWarning, stacklevel=1)
logger.warning("GET http://localhost:5000/api/2.0/mlflow/runs failed (Connection refused), retry 1 of 3 in 0.1 s")
logger.info("tracker connected on retry 2")
net = torch.nn.Sequential(torch.nn.Linear(32, 256), torch.nn.ReLU(), torch.nn.Linear(256, 5))
opt = torch.optim.AdamW(net.parameters(), pick([2e-3, 3e-3, 1e-3]))
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**24)
w = torch.randn(32, 5)
for it in range(1, 241):
    x = torch.randn(64, 32)
    with torch.autocast("cpu", torch.float16):
        loss = torch.nn.functional.cross_entropy(net(x).float(), (x @ w).argmax(1))
    opt.zero_grad()
    scaler.scale(loss).backward()
    old = scaler.get_scale()
    scaler.step(opt)
    scaler.update()
    if scaler.get_scale() < old:
        logger.warning(f"iter {it}: inf in gradients, step skipped, scale {old:g} -> {scaler.get_scale():g}")
    if it % 10 == 0:
        logger.info(f"eta: 0:00:{(240 - it) // 20:02d}  iter: {it}  total_loss: {loss.item():.4f}  time: 0.0313  data_time: 0.0021  lr: {opt.param_groups[0]['lr']}")
        note("loss", it, float(f"{loss.item():.4f}"))
logger.info("copypaste: AP,AP50,AP75,APs,APm,APl")
logger.info("copypaste: 31.2041,52.1120,33.0482,nan,29.8813,41.0021")
