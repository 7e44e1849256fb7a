"""An accelerate loop with plain SGD and momentum at a far too high rate and no clipping: as the warm-up raises the rate the loss climbs, and it ends in NaN.

cause: numerics.lr-divergence
also: [numerics.gradient-explosion]
not: [numerics.fp16-overflow, numerics.bad-batch, numerics.labels-all-masked, healthy.running]
signature: 'loss[ =:]+(nan|inf)'
runs_as: run_mlm_no_trainer.py
launch: python run_mlm_no_trainer.py
environment: transformers
"""

import argparse
import logging
import math

import torch
from accelerate import Accelerator
from accelerate.logging import get_logger
from labkit import note, pick, seed_everything
from transformers import RobertaConfig, RobertaForMaskedLM, get_scheduler

logging.basicConfig(format="%(asctime)s - %(levelname)s - %(name)s - %(message)s", datefmt="%m/%d/%Y %H:%M:%S", level=logging.INFO)
parser = argparse.ArgumentParser()
parser.add_argument("--learning_rate", type=float, default=pick([2.0, 4.0, 3.0]))
parser.add_argument("--batch_size", type=int, default=8)
parser.add_argument("--warmup_steps", type=int, default=pick([10, 20, 6]))
parser.add_argument("--steps", type=int, default=60)
args = parser.parse_args()
accelerator = Accelerator(cpu=True)
logger = get_logger(__name__)
seed_everything()
model = RobertaForMaskedLM(RobertaConfig(vocab_size=200, hidden_size=48, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96, max_position_embeddings=40, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0))
optimizer = torch.optim.SGD(model.parameters(), lr=args.learning_rate, momentum=0.9)
tokens = 4 + (torch.randint(0, 196, (480, 1)) + torch.arange(20) * 3) % 196
loader = torch.utils.data.DataLoader(tokens, batch_size=args.batch_size, shuffle=True)
schedule = get_scheduler("linear", optimizer, num_warmup_steps=args.warmup_steps, num_training_steps=args.steps)
model, optimizer, loader, schedule = accelerator.prepare(model, optimizer, loader, schedule)
logger.info("***** Running training *****")
logger.info("  Num examples = %d", len(tokens))
logger.info("  Learning rate = %g (SGD, momentum 0.9), warm-up steps = %d", args.learning_rate, args.warmup_steps)
logger.info("  Total optimization steps = %d", args.steps)
for step, batch in enumerate(loader, 1):
    masked = batch.clone()
    masked[:, 3::5] = 3
    loss = model(input_ids=masked, labels=torch.where(masked == 3, batch, -100)).loss
    accelerator.backward(loss)
    optimizer.step()
    rate = schedule.get_last_lr()[0]
    schedule.step()
    optimizer.zero_grad()
    logger.info("step %d/%d: loss = %.4f, perplexity = %.4g, lr = %.4g", step, args.steps, loss.item(), math.exp(min(loss.item(), 700)), rate)
    note("loss", step, float(f"{loss.item():.4f}"))
    note("learning_rate", step, float(f"{rate:.4g}"))
    if step == args.steps:
        break
