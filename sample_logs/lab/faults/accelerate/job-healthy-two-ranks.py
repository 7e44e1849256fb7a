r"""accelerate with two processes trains a small masked model to the end; one file per stream and rank.

environment: transformers
cause: healthy.completed
also: [healthy.running]
not: [distributed.peer-failure, performance.slow]
outcome: completed
runs_as: run_mlm.py
launch: |
  accelerate launch --multi_gpu --num_processes 2 --num_machines 1 --mixed_precision no --dynamo_backend no --main_process_port $LAB_PORT --tee 3 --log_dir logs run_mlm.py --max_steps 60 > launch.txt 2>&1
  code=$?
  cp launch.txt $LAB_OUT/
  for r in 0 1; do cp $(find logs -path "*/$r/stdout.log") $LAB_OUT/stdout-$r.txt; cp $(find logs -path "*/$r/stderr.log") $LAB_OUT/stderr-$r.txt; done
  exit $code
"""

import argparse

import torch
from accelerate import Accelerator
from accelerate.logging import get_logger
from accelerate.utils import set_seed
from labkit import SEED, pick
from tqdm.auto import tqdm
from transformers import BertConfig, BertForMaskedLM, get_linear_schedule_with_warmup

parser = argparse.ArgumentParser()
parser.add_argument("--max_steps", type=int, default=10)
parser.add_argument("--learning_rate", type=float, default=pick([1e-2, 2e-2, 8e-3]))
args = parser.parse_args()
log = get_logger(__name__)
accelerator = Accelerator(cpu=True)
set_seed(SEED)
model = BertForMaskedLM(BertConfig(vocab_size=120, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64, max_position_embeddings=32))
optimizer = torch.optim.AdamW(model.parameters(), lr=args.learning_rate)
schedule = get_linear_schedule_with_warmup(optimizer, 4, args.max_steps)
model, optimizer, schedule = accelerator.prepare(model, optimizer, schedule)
accelerator.print(f"***** Running training *****\n  Num processes = {accelerator.num_processes}\n  Total optimization steps = {args.max_steps}")
bar = tqdm(range(args.max_steps), disable=not accelerator.is_local_main_process)
for step in bar:
    labels = (torch.randint(0, 118, (8, 1)) + torch.arange(24)) % 40 + 2
    masked = torch.rand(8, 24) < 0.2
    loss = model(input_ids=labels.masked_fill(masked, 1), labels=labels.masked_fill(~masked, -100)).loss
    accelerator.backward(loss)
    optimizer.step()
    schedule.step()
    optimizer.zero_grad()
    mean = accelerator.gather(loss.detach()).mean().item()
    tqdm.write(f"[{accelerator.process_index}] step {step + 1} loss {mean:.4f} lr {schedule.get_last_lr()[0]:.2e}")
accelerator.wait_for_everyone()
accelerator.print("training done")
accelerator.end_training()
