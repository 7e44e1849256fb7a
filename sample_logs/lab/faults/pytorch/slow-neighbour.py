"""Other jobs start on the core that the training is bound to: its throughput falls to a fraction in the middle of the run, with the same work per step.

cause: performance.slow
also: [healthy.running, healthy.completed]
not: [hang.stalled, performance.input-bound, memory.host-oom]
outcome: completed
seconds: 300
runs_as: train_lm.py
launch: |
  core=$(( $(nproc) - 1 ))
  taskset -c $core python train_lm.py &
  job=$!
  until [ -e half ]; do sleep 0.1; done
  for n in 1 2 3 4 5 6 7; do taskset -c $core sh -c 'while :; do :; done' & done
  wait $job
"""

import datetime as dt
import time

import torch
from labkit import note, pick, seed_everything

seed_everything()
BATCH, LENGTH = pick([(16, 32), (20, 24), (12, 40)])
rnn = torch.nn.GRU(32, 96, batch_first=True)
table, head = torch.nn.Embedding(64, 32), torch.nn.Linear(96, 64)
params = [p for m in (rnn, table, head) for p in m.parameters()]
optimizer = torch.optim.Adam(params, lr=2e-3)
print(f"{dt.datetime.now():%Y-%m-%d %H:%M:%S} | {sum(p.numel() for p in params):,} parameters | batch {BATCH} x {LENGTH} tokens")
mark = time.time()
for step in range(1, 281):
    tokens = (torch.arange(LENGTH + 1) * torch.randint(1, 5, (BATCH, 1)) + torch.randint(0, 64, (BATCH, 1))) % 64
    loss = torch.nn.functional.cross_entropy(head(rnn(table(tokens[:, :-1]))[0]).flatten(0, 1), tokens[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step == 210:
        open("half", "w").close()
    if step % 10 == 0:
        seconds, mark = time.time() - mark, time.time()
        print(f"{dt.datetime.now():%Y-%m-%d %H:%M:%S} | step {step} | loss {loss.item():.4f} | {10 * BATCH * LENGTH / seconds:,.0f} tokens/s | {seconds / 10:.3f} s/step")
        note("loss", step, float(f"{loss.item():.4f}"))
