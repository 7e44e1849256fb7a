r"""accelerate launch with two processes, one log per rank by logging: the shard of rank 1 holds a text longer than the model's positions.

environment: transformers
cause: data.sequence-too-long
also: [code.user-exception]
not: [distributed.peer-failure, cuda.device-side-assert, distributed.nccl-network]
signature: 'IndexError: index out of range in self'
first_failure_source: 'train_rank1\.log'
note: 'the launcher''s console repeats the exception of rank 1'
runs_as: train_gpt.py
launch: accelerate launch --multi_gpu --num_processes 2 --num_machines 1 --mixed_precision no --dynamo_backend no --main_process_port $LAB_PORT train_gpt.py --logs $LAB_OUT > $LAB_OUT/launch.log 2>&1
"""

import argparse
import logging

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from labkit import SEED, pick
from transformers import GPT2Config, GPT2LMHeadModel

parser = argparse.ArgumentParser()
parser.add_argument("--logs", default=".")
args = parser.parse_args()
accelerator = Accelerator(cpu=True)
rank = accelerator.process_index
logging.basicConfig(filename=f"{args.logs}/train_rank{rank}.log", level=logging.INFO, format="%(asctime)s - %(name)s - %(levelname)s - %(message)s")
log = logging.getLogger("train_gpt")
set_seed(SEED)
config = GPT2Config(vocab_size=200, n_positions=64, n_embd=32, n_layer=2, n_head=2, bos_token_id=0, eos_token_id=0)
model = GPT2LMHeadModel(config)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
model, optimizer = accelerator.prepare(model, optimizer)
log.info("n_positions=%d vocab=%d processes=%d device=%s", config.n_positions, config.vocab_size, accelerator.num_processes, accelerator.device)
lengths = [32 + (index * 5) % 30 for index in range(24)]
if rank == 1:
    lengths[pick([11, 7, 15])] = pick([71, 88, 66])


def run():
    for step, length in enumerate(lengths, 1):
        tokens = torch.randint(1, 200, (4, length))
        log.info("step %d batch (4, %d)", step, length)
        loss = model(input_ids=tokens, labels=tokens).loss
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
        log.info("step %d loss %.4f", step, loss.item())


try:
    run()
except Exception:
    log.exception("stopped")
    raise
