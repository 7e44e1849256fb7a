"""Lightning in bfloat16 with clipping, two batches a step; the rate is far too high."""

import sys
from pathlib import Path

import lightning
import torch
from reruns import rerun, same

from postmortem.recorder import LightningRecorder
from postmortem.replay.capsule.opening import open_capsule


class Line(lightning.LightningModule):
    """A regression."""

    def __init__(self, width: int):
        super().__init__()
        self.save_hyperparameters()
        self.body = torch.nn.Sequential(
            torch.nn.Linear(8, width), torch.nn.Dropout(0.2), torch.nn.Linear(width, 1)
        )

    def training_step(self, batch, batch_idx):
        inputs, target = batch
        return {"loss": torch.nn.functional.mse_loss(self.body(inputs).float(), target)}

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=1e18)


lightning.seed_everything(1)
data = torch.utils.data.TensorDataset(torch.randn(160, 8), torch.randn(160, 1))
lightning.Trainer(
    accelerator="cpu",
    max_epochs=3,
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    precision="bf16-mixed",
    accumulate_grad_batches=2,
    gradient_clip_val=0.5,
    callbacks=[LightningRecorder(folder=sys.argv[1], every=4)],
).fit(Line(16), torch.utils.data.DataLoader(data, batch_size=8, shuffle=True))
(capsule,) = Path(sys.argv[1]).glob("*.capsule")
manifest = open_capsule(capsule).manifest
assert manifest.reason.kind == "nonfinite-loss", manifest.reason
assert manifest.clipping.max_norm == 0.5
assert manifest.precision.autocast.dtype == "bfloat16"
assert manifest.model.arguments == {"width": 16}
assert manifest.loss.name == "Line.training_step"
assert not manifest.partial, manifest.partial
_, losses, recorded = rerun(
    capsule, Line(16), lambda model, batch: model.training_step(batch, 0)["loss"]
)
assert len(losses[0]) == 2
assert same(losses, recorded), (losses, recorded)
print("attached")
