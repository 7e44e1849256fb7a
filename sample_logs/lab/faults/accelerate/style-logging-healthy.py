"""An accelerate loop with its logger, a bar and gradient accumulation, on a CPU, to the end.

cause: healthy.completed
also: [healthy.running]
not: [learning.plateau, numerics.loss-spike, config.trainer, cuda.not-available]
outcome: completed
signature: ''
environment: transformers
runs_as: train_text.py
launch: accelerate launch --cpu train_text.py
kept: []
"""
import logging
import torch
from accelerate import Accelerator
from accelerate.logging import get_logger
from tqdm.auto import tqdm
from labkit import note, pick, seed_everything

logging.basicConfig(format="%(asctime)s - %(levelname)s - %(name)s - %(message)s", datefmt="%m/%d/%Y %H:%M:%S", level=logging.INFO)
logger = get_logger(__name__)
seed_everything()
accelerator = Accelerator(gradient_accumulation_steps=2, cpu=True)
model = torch.nn.Sequential(torch.nn.Embedding(200, 64), torch.nn.Linear(64, 200))
optimizer = torch.optim.AdamW(model.parameters(), lr=pick([1e-2, 2e-2, 5e-3]))
perm = torch.randperm(200)
data = [(i, perm[i]) for i in torch.randint(0, 200, (6400,)).tolist()]
model, optimizer, loader = accelerator.prepare(model, optimizer, torch.utils.data.DataLoader(data, 32, shuffle=True))
logger.info("***** Running training *****")
logger.info(f"  Num examples = {len(data)}")
logger.info("  Gradient Accumulation steps = 2")
logger.info("  Total optimization steps = 100")
bar = tqdm(range(100), desc="Steps", disable=not accelerator.is_local_main_process)
step, total = 0, 0.0
for x, y in loader:
    with accelerator.accumulate(model):
        loss = torch.nn.functional.cross_entropy(model(x), y)
        total += loss.item() / 2
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
    if accelerator.sync_gradients:
        step += 1
        bar.update(1)
        bar.set_postfix(step_loss=f"{total:.4f}", lr=optimizer.param_groups[0]["lr"])
        if step % 10 == 0:
            logger.info(f"step {step}: train_loss {total:.4f}")
        total = 0.0
accelerator.end_training()
