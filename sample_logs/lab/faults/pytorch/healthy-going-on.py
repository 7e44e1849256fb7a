"""A run in the middle of its work, with a falling loss and steady speed: its log is simply not at its end.

cause: healthy.running
not: [hang.stalled, hang.startup, scheduler.time-limit, learning.plateau, performance.slow, unknown.no-cause-shown]
ends: time limit
outcome: running
seconds: 30
runs_as: train_seq2seq.py
"""

import logging
import time

import torch
from labkit import pick, seed_everything

logging.basicConfig(level=logging.INFO, format="%(asctime)s | %(levelname)s | %(name)s | %(message)s", datefmt="%Y-%m-%d %H:%M:%S")
logger = logging.getLogger("seq2seq")
seed_everything()
source, target = torch.nn.Embedding(40, 48), torch.nn.Embedding(40, 48)
transformer = torch.nn.Transformer(48, 4, 1, 1, 96, dropout=0.0, batch_first=True)
head = torch.nn.Linear(48, 40)
parameters = [p for module in (source, target, transformer, head) for p in module.parameters()]
optimizer = torch.optim.AdamW(parameters, lr=pick([1e-3, 2e-3, 7e-4]))
warmup = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 40))
logger.info("***** Running training *****")
logger.info("  Total optimization steps = 200000")
logger.info("  Number of parameters = %d", sum(p.numel() for p in parameters))
position = torch.randn(16, 48) / 3
step, window, mark = 0, [], time.time()
while step < 200000:
    step += 1
    words = torch.randint(1, 40, (16, 12))
    wanted = torch.cat([torch.zeros(16, 1, dtype=torch.long), words.flip(1)], 1)
    states = transformer(source(words) + position[:12], target(wanted[:, :-1]) + position[:12], tgt_mask=torch.nn.Transformer.generate_square_subsequent_mask(12))
    loss = torch.nn.functional.cross_entropy(head(states).flatten(0, 1), wanted[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(parameters, 1.0)
    optimizer.step()
    warmup.step()
    window.append(loss.item())
    time.sleep(0.03)
    if step % 10 == 0:
        logger.info("step %d/200000 | loss %.4f | lr %.2e | %.1f steps/s", step, sum(window) / len(window), warmup.get_last_lr()[0], 10 / (time.time() - mark))
        window, mark = [], time.time()
