"""Start a recording: hook the model, the loss, the optimiser and the scaler.

In: a loop's parts and options. Out: a `Recording` that is called at each event. Not here: what it
records.
"""

import sys
from collections.abc import Callable
from types import TracebackType
from typing import Any

import torch

from postmortem.replay.recorder.recorded_objects import Subject, strip_optimizer_wrappers
from postmortem.replay.recorder.recording import Options, Recording
from postmortem.replay.recorder.sample_order import track_samples
from postmortem.replay.recorder.tape import Tape


def start_recording(subject: Subject, options: Options) -> Recording:
    """Create a recording without hooks."""
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        options.rank = torch.distributed.get_rank()
        options.ranks = torch.distributed.get_world_size()
    tape = Tape(subject, options.every, options.memory)
    recording = Recording(tape, options)
    if options.loader is not None:
        recording.passing.samples = track_samples(options.loader, recording.removals)
    return recording


def attach_model_hooks(recording: Recording) -> None:
    """Hear of each forward pass in training, and of the loss where it is a module."""
    passing, model = recording.passing, recording.tape.subject.outer

    def before(module: Any, arguments: Any, keywords: Any) -> None:
        call_safely(recording, passing.before_forward, module, arguments, keywords)

    def after(module: Any, arguments: Any, keywords: Any, output: Any) -> None:
        call_safely(recording, passing.after_forward, module, arguments, keywords, output)

    recording.removals += [
        model.register_forward_pre_hook(before, with_kwargs=True).remove,
        model.register_forward_hook(after, with_kwargs=True).remove,
    ]
    if not hasattr(model, "_orig_mod"):  # not compiled: hooks within would be part of it
        recording.removals += passing.watch_autocast(recording.tape.subject.model)
    criterion = recording.criterion
    if criterion is not None and criterion.is_hooked:
        attach_criterion_hooks(recording, criterion.function)


def attach_criterion_hooks(recording: Recording, criterion: Any) -> None:
    """Hear of each call of a loss that is a module."""

    def before(_: Any, arguments: Any, keywords: Any) -> None:
        if torch.is_grad_enabled():
            call_safely(recording, recording.passing.keep_target, arguments, keywords)

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
