"""The recorder as a callback of Lightning's Trainer.

    Trainer(callbacks=[LightningRecorder()])

In: Lightning's events. Out: a recording. Not here: what is recorded.

Batches come from `on_train_batch_start`, losses from `on_before_backward`, there divided by the
number of accumulated batches and multiplied by the loss scale. The loss is what the module's
`training_step` gives, which replay calls again.
"""
# ruff: noqa: ARG002 -- the framework calls each method with all of these

import inspect
from pathlib import Path
from typing import Any

try:
    from lightning.pytorch import Callback
except ImportError:  # the same under its old name
    from pytorch_lightning import Callback

from postmortem.replay.capsule.manifest import Clipping
from postmortem.replay.recorder import loop
from postmortem.replay.recorder.loop import Recorder
from postmortem.replay.recorder.recipes import describe_user_loss
from postmortem.replay.recorder.recording import Recording


class LightningRecorder(Callback):
    """Records what a Lightning Trainer fits."""

    def __init__(self, **options: Any) -> None:
        """Take the options of `Recorder`."""
        super().__init__()
        self._options = options
        self._recorder: Recorder | None = None
        self._recording: Recording | None = None

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        """Begin to record."""
        norm = trainer.gradient_clip_val
        options = {
            "framework": "lightning",
            "clipping": Clipping(float(norm)) if norm else None,
            "folder": Path(trainer.default_root_dir) / "capsules",
            "loader": trainer.train_dataloader,
            **self._options,
        }
        scaler = getattr(trainer.precision_plugin, "scaler", None)
        optimizers = trainer.optimizers
        self._recorder = Recorder(pl_module, (*optimizers, None)[0], scaler=scaler, **options)
        self._recording = self._recorder.start(_attach_step_hook, loop.attach_scaler_hooks)
        if self._recording is None:
            return
        step = inspect.unwrap(type(pl_module).training_step)
        self._recording.loss_recipe = describe_user_loss(step, (0,))
        self._recording.hooks.is_driven = True
        self._recording.removals += self._recording.hooks.watch_autocast(pl_module)
        if len(optimizers) != 1:
            self._recording.notes.append("optimizer state: of the first of several optimisers")
        if str(trainer.gradient_clip_algorithm or "norm").endswith("value"):
            self._recording.notes.append("clipping: by value, not by norm")

    def on_train_batch_start(
        self, trainer: Any, pl_module: Any, batch: Any, batch_idx: int
    ) -> None:
        """Keep a batch."""
        if self._recording is not None:
            self._recording.batch(batch)

    def on_before_backward(self, trainer: Any, pl_module: Any, loss: Any) -> None:
        """Keep the loss, as `training_step` gave it."""
        if self._recording is not None:
            batches = trainer.accumulate_grad_batches
            scale = getattr(self._recording.tape.subject.scaler, "_scale", None)
            whole = loss.detach() * batches / (1.0 if scale is None else scale)
            self._recording.note_loss(whole, 1.0 / batches)

    def on_before_optimizer_step(self, trainer: Any, pl_module: Any, optimizer: Any) -> None:
        """Look at loss and gradients."""
        if self._recording is not None:
            self._recording.before_step()

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        """Write a capsule."""
        if self._recorder is not None:
            self._recorder.stop(exception)

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        """Look at the last steps once more, and let go."""
        if self._recorder is not None:
            self._recorder.stop()

    def write(self, message: str = "") -> Path | None:
        """Write a capsule now; gives its folder."""
        return self._recorder.write(message) if self._recorder is not None else None


def _attach_step_hook(recording: Recording) -> None:
    """Hear of the end of each step only: Lightning computes the gradients within it."""
    optimizer = recording.tape.subject.optimizer
    if optimizer is not None:
        hook = optimizer.register_step_post_hook(lambda *_: recording.after_step())
        recording.removals.append(hook.remove)
