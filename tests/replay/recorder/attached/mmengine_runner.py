"""A Runner of mmengine, two batches a step, the hook by its name; one sample holds an inf."""

import sys
from pathlib import Path

import torch
from mmengine.model import BaseModel
from mmengine.runner import Runner
from reruns import rerun, same

from postmortem.replay.capsule.opening import open_capsule


class Classifier(BaseModel):
    """Two layers."""

    def __init__(self, width: int = 12):
        super().__init__()
        self.first, self.second = torch.nn.Linear(6, width), torch.nn.Linear(width, 3)

    def forward(self, inputs, target, mode):
        output = self.second(self.first(inputs).relu())
        return (
            {"loss": torch.nn.functional.cross_entropy(output, target)}
            if mode == "loss"
            else output
        )


torch.manual_seed(2)
inputs = torch.randn(128, 6)
inputs[70, 3] = torch.inf
data = torch.utils.data.TensorDataset(inputs, torch.randint(0, 3, (128,)))
Runner(
    model=Classifier(),
    work_dir=sys.argv[1],
    train_dataloader={
        "batch_size": 8,
        "dataset": data,
        "sampler": {"type": "DefaultSampler", "shuffle": False},
        "collate_fn": {"type": "default_collate"},
    },
    train_cfg={"by_epoch": True, "max_epochs": 1},
    optim_wrapper={
        "optimizer": {"type": "AdamW", "lr": 0.01},
        "accumulative_counts": 2,
        "clip_grad": {"max_norm": 1.0},
    },
    custom_hooks=[
        {"type": "postmortem.replay.recorder.MMEngineRecorder", "every": 3, "build": Classifier}
    ],
).train()
(capsule,) = (Path(sys.argv[1]) / "capsules").glob("*.capsule")
manifest = open_capsule(capsule).manifest
assert manifest.framework == "mmengine"
assert (manifest.reason.kind, manifest.reason.step) == ("nonfinite-loss", 4), manifest.reason
assert manifest.clipping.max_norm == 1.0
assert 70 in manifest.window.steps[-1].micro_batches[0].samples
assert not manifest.partial, manifest.partial
_, losses, recorded = rerun(capsule, Classifier(), lambda model, batch: model(**batch)["loss"])
assert same(losses, recorded), (losses, recorded)
print("attached")
