"""CUDA out of memory with the same words twice: once the printed memory had grown with every step, once it was flat until a longer batch came.

cause: memory.cuda-oom
composed: the lines follow torch 2.5's message; the run needs a card that was not there (the lab's script for a real one is pytorch/gpu-oom-leak).
signature: 'CUDA out of memory'
runs_as: train_lm.py
variants:
  growing:
    story: The losses are summed with their graphs; allocated memory grows by the same amount each step until the card is full.
    cause: memory.cuda-leak
    also: []
    not: [memory.cuda-fragmentation, memory.gpu-shared, memory.oom-at-eval]
  flat:
    story: Allocated memory is flat; one batch is longer than the card holds.
    cause: memory.cuda-oom
    also: []
    not: [memory.cuda-leak, memory.gpu-shared, memory.cuda-fragmentation]
"""

import random
import sys

from labkit import VARIANT, pick, seed_everything

seed_everything()
print("Namespace(batch_size=8, seq_len=2048, dtype='bfloat16', accum=1)")
loss, memory, last = 10.8, 21.4, pick([64, 57, 71])
for step in range(last):
    loss *= 0.985 + random.uniform(-0.004, 0.004)
    memory += (37.4 - 21.4) / last if VARIANT == "growing" else random.uniform(-0.01, 0.01)
    print(f"step {step:5d} | loss {loss:.4f} | lr 3.00e-04 | allocated {memory:.2f} GiB | {random.uniform(410, 420):.1f} ms")
allocated = f"{memory:.2f}" if VARIANT == "growing" else "37.90"
free = f"{39.39 - float(allocated) - 0.15:.2f}"
sys.stderr.write(f"""Traceback (most recent call last):
  File "/workspace/run/train_lm.py", line 96, in <module>
    main()
  File "/workspace/run/train_lm.py", line 71, in main
    loss.backward()
  File "/opt/venv/lib/python3.11/site-packages/torch/_tensor.py", line 581, in backward
    torch.autograd.backward(
  File "/opt/venv/lib/python3.11/site-packages/torch/autograd/__init__.py", line 347, in backward
    _engine_run_backward(
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.96 GiB. GPU 0 has a total capacity of 39.39 GiB of which {float(free) * 1024 if float(free) < 1 else float(free):.2f} {'MiB' if float(free) < 1 else 'GiB'} is free. Including non-PyTorch memory, this process has 39.20 GiB memory in use. Of the allocated memory {allocated} GiB is allocated by PyTorch, and 87.31 MiB is reserved by PyTorch but unallocated. If reserved but unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  See documentation for Memory Management  (https://pytorch.org/docs/stable/notes/cuda.html#environment-variables)
""")
sys.exit(1)
