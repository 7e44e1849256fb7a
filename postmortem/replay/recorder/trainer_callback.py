"""The recorder as a callback of transformers' Trainer and its subclasses (TRL).

    trainer.add_callback(TrainerRecorder())

In: the Trainer's events. Out: a recording. Not here: what is recorded.
"""

from pathlib import Path
from typing import Any

from transformers import TrainerCallback

from postmortem.replay.recorder import loop
from postmortem.replay.recorder.loop import USUAL, Recorder
from postmortem.replay.recorder.recording import Recording


class TrainerRecorder(TrainerCallback):
    """Records what a Trainer trains."""

    def __init__(self, **options: Any) -> None:
        """Take the options of `Recorder`; capsules go next to the checkpoints by default."""
        self._options = options
        self._recorder: Recorder | None = None
        self._recording: Recording | None = None

    def on_train_begin(self, args: Any, state: Any, control: Any, **parts: Any) -> None:
        """Begin to record."""
        self.on_train_end(args, state, control)
        detected = {
            "folder": Path(args.output_dir) / "capsules",
            "clipping": args.max_grad_norm,
            "framework": "transformers-trainer",
            "loader": parts.get("train_dataloader"),
        }
        optimizer = parts.get("optimizer")
        scaler = getattr(optimizer, "scaler", None)
        options = {
            key: value for key, value in {**detected, **self._options}.items() if value is not None
        }
        self._recorder = Recorder(parts["model"], optimizer, scaler=scaler, **options)
        self._recording = self._recorder.start(*USUAL, loop.attach_exception_hook)
        if self._recording is not None:
            self._recording.notes += _list_unrecorded_features(
                args, is_named="loss" in self._options
            )

    def on_pre_optimizer_step(self, *_: Any, **__: Any) -> None:
        """Look at loss and gradients."""
        if self._recording is not None:
            self._recording.before_step()

    def on_train_end(self, *_: Any, **__: Any) -> None:
        """Look at the last steps once more, and let go."""
        if self._recorder is not None:
            self._recorder.stop()

    def write(self, message: str = "") -> Path | None:
        """Write a capsule now; gives its folder."""
        return self._recorder.write(message) if self._recorder is not None else None


def _list_unrecorded_features(args: Any, *, is_named: bool) -> list[str]:
    """List features of the Trainer that a capsule does not record."""
    notes = []
    if getattr(args, "label_smoothing_factor", 0) and not is_named:
        notes.append("loss: the Trainer smooths the labels outside the model; name loss=")
    if getattr(args, "n_gpu", 1) > 1:
        notes.append("batches: split over several devices in one process (DataParallel)")
    return notes
