"""Attach the recorder to a training loop, plain or with Accelerate, which it leaves as it is.

    with Recorder(model, optimizer, scaler=scaler, loss=criterion):
        for inputs, target in loader:
            ...
    with record_accelerate(accelerator, model, optimizer):
        for batch in loader:
            ...

In: the loop's parts and options. Out: a `Recording` that is called at each event; a capsule when
the loop fails, or when `write` asks for one. Not here: what it records, what frameworks call these
parts (`trainer_callback`, `lightning_callback` …).

The loader's sampler is asked for indices in the order in which batches come out, some batches ahead
where workers fetch them. So what was drawn and not yet used may never be more than the workers
hold: if it is, a batch was dropped on the way, and no index is given from then on.
"""

import sys
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

import torch

from postmortem.replay.recorder.recorded_state import Subject, strip_optimizer_wrappers
from postmortem.replay.recorder.recording import LOG, Options, Recording, Removal
from postmortem.replay.recorder.tape import Tape

Indices = tuple[int | None, ...]


class WatchedSampler:
    """A sampler whose indices are noted as they are drawn."""

    def __init__(self, sampler: Any) -> None:
        """Take its place."""
        self.sampler = sampler
        self.drawn: deque[int | None] = deque()

    def __iter__(self) -> Iterator[Any]:
        """Begin an epoch: what was left of the last one is dropped by the loader too."""
        self.drawn.clear()
        for index in self.sampler:
            self.drawn.append(index if isinstance(index, int) else None)
            yield index

    def __len__(self) -> int:
        """As many as it gives."""
        return len(self.sampler)

    def __getattr__(self, name: str) -> Any:
        """Answer as the sampler does (`set_epoch` and the like)."""
        return getattr(self.sampler, name)


def track_samples(loader: Any, removals: list[Removal]) -> Callable[[Any], Indices | None]:
    """Put a watched sampler into a loader; return a function giving the next batch's indices."""
    batches: Any = getattr(loader, "batch_sampler", None)
    if type(batches).__name__ != "BatchSampler":
        return lambda _: None
    watched = WatchedSampler(batches.sampler)
    batches.sampler = watched

    def restore() -> None:
        batches.sampler = watched.sampler

    removals.append(restore)
    workers = getattr(loader, "num_workers", 0)
    ahead = workers * (getattr(loader, "prefetch_factor", None) or 2)
    ahead += type(loader).__module__.startswith("accelerate")
    lost = False

    def samples(batch: Any) -> Indices | None:
        nonlocal lost
        size = _count_samples(batch)
        lost = lost or not 0 < size <= len(watched.drawn) <= size + ahead * batches.batch_size
        return None if lost else tuple(watched.drawn.popleft() for _ in range(size))

    return samples


def _count_samples(batch: Any) -> int:
    """Count the samples of a batch: the first side of its first tensor."""
    parts = batch.values() if hasattr(batch, "values") else batch
    for part in parts if isinstance(parts, (list, tuple)) or parts is not batch else [batch]:
        if getattr(part, "ndim", 0) > 0:
            return int(part.shape[0])
    return 0


def start_recording(subject: Subject, options: Options) -> Recording:
    """Create a recording without hooks."""
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        options.rank = torch.distributed.get_rank()
        options.ranks = torch.distributed.get_world_size()
    tape = Tape(subject, options.every, options.memory)
    recording = Recording(tape, options)
    if options.loader is not None:
        recording.hooks.samples = track_samples(options.loader, recording.removals)
    return recording


def attach_model_hooks(recording: Recording) -> None:
    """Hear of each forward pass in training, and of the loss where it is a module."""
    hooks, model = recording.hooks, recording.tape.subject.outer

    def before(module: Any, arguments: Any, keywords: Any) -> None:
        call_safely(recording, hooks.before_forward, module, arguments, keywords)

    def after(module: Any, arguments: Any, keywords: Any, output: Any) -> None:
        call_safely(recording, hooks.after_forward, module, arguments, keywords, output)

    recording.removals += [
        model.register_forward_pre_hook(before, with_kwargs=True).remove,
        model.register_forward_hook(after, with_kwargs=True).remove,
    ]
    if not hasattr(model, "_orig_mod"):  # not compiled: hooks within would be part of it
        recording.removals += hooks.watch_autocast(recording.tape.subject.model)
    criterion = recording.criterion
    if criterion is not None and criterion.is_hooked:
        attach_criterion_hooks(recording, criterion.function)


def attach_criterion_hooks(recording: Recording, criterion: Any) -> None:
    """Hear of each call of a loss that is a module."""

    def before(_: Any, arguments: Any, keywords: Any) -> None:
        if torch.is_grad_enabled():
            call_safely(recording, recording.hooks.keep_target, arguments, keywords)

    def after(_: Any, _arguments: Any, computed: Any) -> None:
        if torch.is_grad_enabled():
            recording.note_loss(computed)

    recording.removals += [
        criterion.register_forward_pre_hook(before, with_kwargs=True).remove,
        criterion.register_forward_hook(after).remove,
    ]


def attach_optimizer_hooks(recording: Recording) -> None:
    """Hear of each step, of one that the scaler skips too."""
    optimizer = recording.tape.subject.optimizer
    if optimizer is None:
        return
    recording.removals += [
        optimizer.register_step_pre_hook(lambda *_: recording.before_step()).remove,
        optimizer.register_step_post_hook(lambda *_: recording.after_step()).remove,
    ]


def attach_scaler_hooks(recording: Recording) -> None:
    """Hear of the scaler's steps: it skips the optimiser's where gradients are not finite."""
    scaler, ours = recording.tape.subject.scaler, recording.tape.subject.optimizer
    if scaler is None or not hasattr(scaler, "step"):
        return
    original = scaler.step

    def step(optimizer: Any, *arguments: Any, **keywords: Any) -> Any:
        if strip_optimizer_wrappers(optimizer) is ours:
            recording.before_step()
        done = original(optimizer, *arguments, **keywords)
        if strip_optimizer_wrappers(optimizer) is ours:
            recording.after_step()
        return done

    scaler.step = step
    recording.removals.append(lambda: vars(scaler).pop("step", None) and None)


def attach_exception_hook(recording: Recording) -> None:
    """Hook `sys.excepthook`, for loops whose framework does not report exceptions."""
    original = sys.excepthook

    def hook(type_: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        recording.end(error)
        original(type_, error, trace)

    def restore() -> None:
        if sys.excepthook is hook:
            sys.excepthook = original

    sys.excepthook = hook
    recording.removals.append(restore)


def call_safely(recording: Recording, callback: Callable[..., None], *arguments: Any) -> None:
    """Tell a part of a recording something; what goes wrong there ends the recording only."""
    if not recording.is_off and not torch.compiler.is_compiling():
        try:
            callback(*arguments)
        except Exception as error:  # noqa: BLE001 -- whatever it is, the training goes on
            recording.give_up(f"{type(error).__name__}: {error}")


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
            self._recording = start_recording(self._subject(), self._options)
            for attach in attachments or (*USUAL, attach_exception_hook):
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
    attach_model_hooks,
    attach_optimizer_hooks,
    attach_scaler_hooks,
)
"""What tells of all that happens in a loop of torch alone."""


def record_accelerate(accelerator: Any, model: Any, optimizer: Any, **options: Any) -> Recorder:
    """Give the recorder of a loop; its options are those of `Recorder`."""
    named = {"framework": "accelerate", **options}
    return Recorder(model, optimizer, scaler=getattr(accelerator, "scaler", None), **named)
