"""A model as XTuner 0.1 and 0.2 have it, one of transformers within as `llm`, under a Runner of mmengine."""

import sys
from pathlib import Path

import torch
from mmengine.model import BaseModel
from mmengine.runner import Runner
from reruns import rerun, same
from tiny_llama import collate, model, sequences

from postmortem.recorder import MMEngineRecorder
from postmortem.replay.capsule.opening import open_capsule


class SupervisedFinetune(BaseModel):
    """What XTuner's class of this name does with a batch."""

    def __init__(self):
        super().__init__()
        self.llm = model()

    def forward(self, data, data_samples=None, mode="loss"):
        return {"loss": self.llm(**data).loss}


torch.manual_seed(2)
data = sequences(64)
for sample in data[40:44]:
    sample["labels"] = [-100] * 24
runner = Runner(
    model=SupervisedFinetune(),
    work_dir=sys.argv[1],
    train_dataloader={
        "batch_size": 4,
        "dataset": data,
        "sampler": {"type": "DefaultSampler", "shuffle": False},
        "collate_fn": lambda samples: {"data": collate(samples)},
    },
    train_cfg={"by_epoch": True, "max_epochs": 1},
    optim_wrapper={
        "optimizer": {"type": "AdamW", "lr": 1e-3},
        "clip_grad": {"max_norm": 1.0},
    },
)
runner.register_hook(MMEngineRecorder(every=4))
runner.train()
(capsule,) = (Path(sys.argv[1]) / "capsules").glob("*.capsule")
manifest = open_capsule(capsule).manifest
assert manifest.framework == "xtuner"
assert (manifest.reason.kind, manifest.reason.step) == ("nonfinite-loss", 10), manifest.reason
assert manifest.window.steps[-1].micro_batches[0].samples == (40, 41, 42, 43)
assert (manifest.model.kind, manifest.model.class_) == ("transformers", "LlamaForCausalLM")
assert not manifest.partial, manifest.partial
_, losses, recorded = rerun(capsule)
assert same(losses, recorded), (losses, recorded)
print("attached")
