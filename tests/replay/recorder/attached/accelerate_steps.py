"""Accelerate in bfloat16, two micro-batches a step, the model's own loss; an exception passes."""

import sys
from pathlib import Path

import torch
from accelerate import Accelerator
from reruns import rerun, same
from tiny_llama import collate, model, sequences

from postmortem.recorder import record_accelerate
from postmortem.replay.capsule.opening import open_capsule

torch.manual_seed(3)
accelerator = Accelerator(cpu=True, mixed_precision="bf16", gradient_accumulation_steps=2)
trained = model()
optimizer = torch.optim.AdamW(trained.parameters(), lr=1e-3)
loader = torch.utils.data.DataLoader(sequences(120), batch_size=4, shuffle=True, collate_fn=collate)
trained, optimizer, loader = accelerator.prepare(trained, optimizer, loader)
try:
    with record_accelerate(
        accelerator, trained, optimizer, loader=loader, every=4, folder=sys.argv[1]
    ):
        for number, batch in enumerate(loader):
            with accelerator.accumulate(trained):
                loss = trained(**batch).loss
                accelerator.backward(loss)
                if number == 21:
                    raise KeyError("speaker")
                optimizer.step()
                optimizer.zero_grad()
except KeyError:
    pass
(capsule,) = Path(sys.argv[1]).glob("*.capsule")
manifest = open_capsule(capsule).manifest
assert (manifest.reason.kind, manifest.reason.step) == ("exception", 10), manifest.reason
assert manifest.precision.autocast.enabled, manifest.precision
assert not manifest.partial, manifest.partial
assert all(one.factor == 0.5 for step in manifest.window.steps for one in step.micro_batches)
_, losses, recorded = rerun(capsule)
assert same(losses, recorded), (losses, recorded)
print("attached")
