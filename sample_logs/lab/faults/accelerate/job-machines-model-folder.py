r"""accelerate launch on two machines; the folder with the base model exists on the first only, the second cannot load it.

environment: transformers
cause: data.missing-file
also: [config.arguments]
not: [io.hub-access, distributed.rendezvous, distributed.peer-failure, distributed.nccl-timeout]
signature: 'OSError: Repo id must be'
first_failure: 'HFValidationError: Repo id must be'
first_failure_source: 'machine1\.log'
variables: {HF_HUB_OFFLINE: 1}
runs_as: finetune_bert.py
launch: |
  mkdir m0 m1
  python finetune_bert.py --make m0/models/bert-mini
  pids=
  for i in 0 1; do
    (cd m$i && exec accelerate launch --multi_gpu --num_machines 2 --machine_rank $i --num_processes 2 --main_process_ip 127.0.0.1 --main_process_port $LAB_PORT --mixed_precision no --dynamo_backend no ../finetune_bert.py --model ./models/bert-mini > $LAB_OUT/machine$i.log 2>&1) & pids="$pids $!"
  done
  code=0; for p in $pids; do wait $p || code=$?; done; exit $code
"""

import argparse
from datetime import timedelta

import torch
from accelerate import Accelerator, InitProcessGroupKwargs
from accelerate.utils import set_seed
from labkit import SEED, pick
from transformers import BertConfig, BertForSequenceClassification

parser = argparse.ArgumentParser()
parser.add_argument("--model", default="")
parser.add_argument("--make", default="")
parser.add_argument("--lr", type=float, default=pick([5e-5, 3e-5, 1e-4]))
args = parser.parse_args()
if args.make:
    BertForSequenceClassification(BertConfig(vocab_size=300, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=48)).save_pretrained(args.make)
    raise SystemExit
accelerator = Accelerator(cpu=True, kwargs_handlers=[InitProcessGroupKwargs(timeout=timedelta(seconds=60))])
set_seed(SEED)
accelerator.print(f"processes {accelerator.num_processes}, arguments {vars(args)}")
model = BertForSequenceClassification.from_pretrained(args.model, num_labels=pick([2, 3, 4]))
optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
model, optimizer = accelerator.prepare(model, optimizer)
for step in range(30):
    tokens = torch.randint(0, 300, (4, 20))
    loss = model(input_ids=tokens, labels=tokens[:, 0] % 2).loss
    accelerator.backward(loss)
    optimizer.step()
    optimizer.zero_grad()
    accelerator.print(f"step {step} loss {loss.item():.4f}")
