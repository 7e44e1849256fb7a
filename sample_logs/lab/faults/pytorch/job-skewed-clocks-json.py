r"""Two nodes whose clocks differ by minutes, time stamps in every line: a broken JSON line stops a rank on the node whose clock is ahead, so the consequence on the other node has the earlier time.

cause: data.decode
also: [code.user-exception]
not: [distributed.peer-failure, distributed.nccl-network, distributed.nccl-timeout]
signature: 'JSONDecodeError: '
first_failure_source: 'node-b\.log'
note: 'the clock of node-b is ahead by 127, 64 or 303 seconds (an offset in the log formatter''s converter), so time stamps alone name the wrong node'
runs_as: train_lm.py
launch: |
  export MASTER_ADDR=127.0.0.1 MASTER_PORT=$LAB_PORT WORLD_SIZE=4
  pids=
  for i in 0 1; do RANK=$i python train_lm.py >> $LAB_OUT/node-a.log 2>&1 & pids="$pids $!"; done
  for i in 2 3; do RANK=$i NODE_CLOCK=1 python train_lm.py >> $LAB_OUT/node-b.log 2>&1 & pids="$pids $!"; done
  code=0; for p in $pids; do wait $p || code=$?; done; exit $code
"""

import json
import logging
import os
import sys
import time
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist
from labkit import SEED, pick
from torch import nn

ahead = pick([127, 64, 303]) if os.environ.get("NODE_CLOCK") else 0
rank = int(os.environ["RANK"])
formatter = logging.Formatter(f"%(asctime)s.%(msecs)03d [rank{rank}] %(levelname)s %(name)s: %(message)s", "%Y-%m-%d %H:%M:%S")
formatter.converter = lambda seconds: time.gmtime(seconds + ahead)
handler = logging.StreamHandler(sys.stdout)
handler.setFormatter(formatter)
logging.basicConfig(handlers=[handler], level=logging.INFO)
log = logging.getLogger("charlm")


def write_corpus(path, broken):
    generator = torch.Generator().manual_seed(SEED * 10 + rank)
    lines = []
    for index in range(90):
        text = "".join(chr(97 + int(code)) for code in torch.randint(0, 26, (40,), generator=generator))
        lines.append(json.dumps({"id": index, "text": text}))
    if broken is not None:
        lines[broken] = lines[broken][: pick([31, 24, 40])]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def documents(path):
    with open(path, encoding="utf-8") as source:
        for line in source:
            yield json.loads(line)["text"]


class CharLM(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(26, 24)
        self.rnn = nn.LSTM(24, 40, batch_first=True)
        self.head = nn.Linear(40, 26)

    def forward(self, tokens):
        return self.head(self.rnn(self.embedding(tokens))[0])


def main():
    dist.init_process_group("gloo", timeout=timedelta(seconds=60))
    path = Path(f"corpus-{rank}.jsonl")
    write_corpus(path, pick([46, 62, 30]) if rank == pick([3, 2, 3]) else None)
    torch.manual_seed(SEED)
    model = nn.parallel.DistributedDataParallel(CharLM())
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    log.info("start: world size %d, corpus %s (%d bytes)", dist.get_world_size(), path, path.stat().st_size)
    batch = []
    step = 0
    for text in documents(path):
        batch.append(torch.tensor([ord(letter) - 97 for letter in text]))
        if len(batch) < 4:
            continue
        tokens, batch = torch.stack(batch), []
        loss = nn.functional.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        time.sleep(0.15)
        log.info("step %d loss %.4f", step, loss.item())
    log.info("end of corpus after %d steps", step)


try:
    main()
except Exception:
    log.exception("training failed")
    sys.exit(1)
