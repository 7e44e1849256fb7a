"""The recorder of a plain training loop, which it leaves as it is.

    with Recorder(model, optimizer, scaler=scaler, loss=criterion):
        for inputs, target in loader:
            ...

In: the loop's parts. Out: a capsule when it fails, or when `write` asks for one. Not here: what
frameworks call these parts (`trainer_callback`, `lightning_callback` …).
"""

from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from postmortem.replay.recorder import attaching
from postmortem.replay.recorder.recorded_objects import Subject
from postmortem.replay.recorder.recording import LOG, Options, Recording

Attachment = Callable[[Recording], None]


class Recorder:
    """Keeps the last steps of a training in host memory; writes a capsule when it fails."""

    def __init__(
        self, model: Any, optimizer: Any = None, *, scaler: Any = None, **options: Any
    ) -> None:
        """Hook nothing yet; `with`, or `start`, does.

        Args:
            model: what is trained, wrapped as it may be.
            optimizer: its steps are the steps of the training; None: call `step` for each.
            scaler: a GradScaler, if there is one.
            options: `loss`: a loss of torch.nn (its calls are seen), a function of
                torch.nn.functional or one `(model, batch)` of your own (both called as
                `recorder.loss(…)`), nothing if the model gives its loss itself; `loader`: the
                DataLoader, for the indices of samples; `folder`: where capsules go; `every`: steps
                between two snapshots, half of the longest window; `clipping`: the greatest norm of
                gradients; `build`: a function without arguments that builds the model, or its class
                with `arguments`; `memory`: bytes of host memory; `most_bytes`: of a capsule.
        """
        self._parts = (model, optimizer, scaler)
        self._options = Options(**options)
        self._recording: Recording | None = None

    def _subject(self) -> Subject:
        return Subject(*self._parts)

    def start(self, *attachments: Callable[[Recording], None]) -> Recording | None:
        """Begin to record; an error here is reported, and nothing is recorded."""
        try:
            self._recording = attaching.start_recording(self._subject(), self._options)
            for attach in attachments or (*USUAL, attaching.attach_exception_hook):
                attach(self._recording)
        except Exception as error:  # noqa: BLE001 -- whatever it is, the training goes on
            LOG.warning("postmortem: nothing is recorded: %s: %s", type(error).__name__, error)
            self.stop()
        return self._recording

    def stop(self, error: BaseException | None = None) -> None:
        """Look at the last steps once more, and let go of everything."""
        if self._recording is not None:
            self._recording.end(error)

    def __enter__(self) -> "Recorder":  # noqa: PYI034 -- Self is not in Python 3.10
        """Begin to record."""
        self.start(*USUAL)
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        """Write a capsule if an exception passes, and stop."""
        self.stop(error)

    def loss(self, *arguments: Any, **keywords: Any) -> Any:
        """Compute the loss as `loss=` says, and keep it with what it was given.

        `recorder.loss(prediction, target)`, or `recorder.loss(model, batch)` with a function of
        your own. A loss that was computed elsewhere goes in, and comes out, alone.
        """
        if self._recording is not None:
            return self._recording.loss(*arguments, **keywords)
        function = self._options.loss
        return function(*arguments, **keywords) if function is not None else arguments[0]

    def batch(self, batch: Any, samples: tuple[int | None, ...] | None = None) -> None:
        """Tell of a batch, where the model's inputs alone do not say what it was."""
        if self._recording is not None:
            self._recording.batch(batch, samples)

    def step(self) -> None:
        """Tell that the optimiser is about to step, where it is none of torch.optim."""
        if self._recording is not None:
            self._recording.after_step()
            self._recording.before_step()

    def write(self, message: str = "") -> Path | None:
        """Write a capsule now; gives its folder."""
        return self._recording.write(message) if self._recording is not None else None

    @property
    def written(self) -> list[Path]:
        """The capsules that were written."""
        return self._recording.written if self._recording is not None else []


USUAL: tuple[Attachment, ...] = (
    attaching.attach_model_hooks,
    attaching.attach_optimizer_hooks,
    attaching.attach_scaler_hooks,
)
"""What tells of all that happens in a loop of torch alone."""
