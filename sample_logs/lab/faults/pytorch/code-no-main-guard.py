"""A script without a main guard starts spawned processes: each child imports the script and starts again.

cause: code.serialization
also: [code.user-exception]
not: [distributed.rendezvous, distributed.peer-failure, data.worker-crash]
signature: 'RuntimeError:'
first_failure: '^RuntimeError:'
runs_as: parallel_train.py
launch: python parallel_train.py
"""

import torch
import torch.multiprocessing as mp
from labkit import pick, seed_everything

print("starting", mp.current_process().name)
seed_everything()
STEPS, WORKERS = pick([50, 80, 30]), 1
shared = torch.nn.Linear(8, pick([1, 2, 4]))
shared.share_memory()


def work(rank, model, steps):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(steps):
        loss = model(torch.randn(16, 8)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"worker {rank} finished, loss {loss.item():.4f}")


print(f"hogwild with {WORKERS} worker(s), {STEPS} steps each, start method {mp.get_start_method(allow_none=True) or 'spawn'}")
mp.set_start_method("spawn", force=True)
process = mp.Process(target=work, args=(0, shared, STEPS))
process.start()
process.join()
print("exit code of the worker:", process.exitcode)
if process.exitcode:
    raise SystemExit(f"worker failed with exit code {process.exitcode}")
