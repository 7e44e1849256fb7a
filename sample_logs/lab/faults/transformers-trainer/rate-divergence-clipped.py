"""AdamW warms up towards a rate a hundred times too high: the loss climbs far above its start as the rate grows; clipping keeps the numbers finite and the run ends useless.

cause: numerics.lr-divergence
also: [learning.collapse, numerics.gradient-explosion]
not: [numerics.fp16-overflow, numerics.bad-batch, healthy.completed, data.schema]
signature: "'loss': '([1-9]\\\\d+(\\\\.\\\\d+)?)'"
step_basis: ordinal
runs_as: finetune.py
launch: python finetune.py
"""

import logging

import torch
from labkit import pick, seed_everything, trainer_notes
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

logging.basicConfig(format="%(asctime)s - %(levelname)s - %(name)s - %(message)s", datefmt="%m/%d/%Y %H:%M:%S", level=logging.INFO)
logger = logging.getLogger("finetune")
seed_everything()
config = GPT2Config(vocab_size=200, n_positions=64, n_embd=64, n_layer=3, n_head=4, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, bos_token_id=0, eos_token_id=0)
model = GPT2LMHeadModel(config)
start = torch.randint(0, 200, (1200, 1))
train = [{"input_ids": row, "labels": row} for row in (start + torch.arange(24) * 7) % 200]
args = TrainingArguments(
    "gpt2-ft", learning_rate=pick([1.0, 2.0, 0.7]), warmup_steps=pick([150, 150, 120]), lr_scheduler_type="constant_with_warmup", max_grad_norm=1.0, per_device_train_batch_size=8,
    num_train_epochs=1, logging_steps=pick([5, 10, 3]), report_to="none", use_cpu=True, save_strategy="no", disable_tqdm=pick([True, False, True]),
)
logger.info("learning rate %g, warm-up steps %d, max_grad_norm %g, batch size %d", args.learning_rate, args.warmup_steps, args.max_grad_norm, args.per_device_train_batch_size)
result = Trainer(model, args, train_dataset=train, callbacks=[trainer_notes()]).train()
logger.info("done: %s", result.metrics)
