"""Build a capsule from what was recorded.

In: a tape and the reason. Out: a manifest and its tensors. Not here: recording, writing files.
"""

import hashlib
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any, Final

import torch

from postmortem.replay.capsule import manifest as values
from postmortem.replay.capsule import trees
from postmortem.replay.recorder.host_copies import as_tensor, count_bytes, get_local_tensor, wait
from postmortem.replay.recorder.recorded_objects import Subject
from postmortem.replay.recorder.run_environment import (
    collect_environment,
    describe_precision,
    iter_versions,
)
from postmortem.replay.recorder.snapshots import Snapshot
from postmortem.replay.recorder.tape import RecordedPass, RecordedStep, Tape

_MOST_HASHED: Final = 32 << 30
"""Bytes of frozen weights whose checksums are computed."""
_MOST_KEPT: Final = 1 << 30
"""Bytes of frozen weights that are written where they lie nowhere else."""
Tensors = dict[str, dict[str, Any]]


@dataclass(slots=True)
class RunDetails:
    """What is known of a training besides its tape."""

    model: values.ModelRecipe
    loss: values.LossRecipe
    framework: str = "pytorch"
    clipping: values.Clipping | None = None
    autocast: tuple[bool, str, str] | None = None
    notes: list[str] = field(default_factory=list)


def build_capsule(
    tape: Tape, about: RunDetails, reason: values.Reason, most_bytes: int
) -> tuple[values.Manifest, Tensors]:
    """Put a capsule together.

    Raises:
        ValueError: no step was recorded.
    """
    steps = [step for step in tape.steps if step.step <= reason.step and step.passes]
    snapshot = tape.ring.oldest
    if snapshot is None or not steps:
        raise ValueError("no step was recorded")
    notes = [*_wait_for_copies(steps), *about.notes, *tape.notes, *snapshot.left_out]
    subject = tape.subject
    tensors: Tensors = {name: {} for name in values.FILES}
    weights = _build_weights(subject, snapshot, about, tensors, notes)
    window = values.Window(
        steps[0].step, steps[-1].step, tuple(_build_step(step, tensors, notes) for step in steps)
    )
    optimizer = _build_optimizer(subject, snapshot, tensors, most_bytes, notes)
    manifest = values.Manifest(
        written_at=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        reason=reason,
        model=about.model,
        weights=weights,
        window=window,
        versions=dict(iter_versions()),
        framework=about.framework,
        precision=describe_precision(subject, snapshot, about.autocast),
        loss=about.loss,
        optimizer=optimizer,
        clipping=about.clipping,
        accumulation=max(len(step.passes) for step in steps),
        partial=tuple(dict.fromkeys(notes)),
        **collect_environment(subject),
    )
    return manifest, tensors


def _wait_for_copies(steps: list[RecordedStep]) -> list[str]:
    """Wait for all copies; a device that has failed finishes none."""
    try:
        wait()
        for step in steps:
            step.arrive(wait=True)
    except RuntimeError as error:
        return [f"device: it failed, the last copies may be missing ({str(error)[:80]})"]
    return []


def _build_weights(
    subject: Subject, snapshot: Snapshot, about: RunDetails, tensors: Tensors, notes: list[str]
) -> values.StoredWeights:
    held = tensors[values.WEIGHTS_FILE]
    names: dict[str, list[str]] = {"weight": [], "buffer": []}
    for key, tensor in snapshot.tensors.items():
        if key[0] in names:
            held[key[1]] = tensor
            names[key[0]].append(key[1])
    base = about.model.base.path if about.model.base is not None else ""
    size = sum(map(count_bytes, subject.frozen.values()))
    kept = [] if base or size > _MOST_KEPT else [*subject.frozen]
    held.update(
        {name: get_local_tensor(subject.frozen[name]).to("cpu", copy=True) for name in kept}
    )
    if subject.frozen and not kept and not base:
        notes.append("frozen weights: neither in the capsule nor known where they come from")
    return values.StoredWeights(
        trainable=tuple(names["weight"]),
        buffers=tuple(names["buffer"]),
        frozen=() if kept else tuple(_iter_frozen_weights(subject, hashed=size <= _MOST_HASHED)),
        kept=tuple(kept),
        frozen_from=base or None,
        tied=tuple(subject.tied),
    )


def _iter_frozen_weights(subject: Subject, *, hashed: bool) -> Iterator[values.FrozenWeight]:
    for name, parameter in subject.frozen.items():
        sha256 = ""
        if hashed:
            data = (
                get_local_tensor(parameter).cpu().contiguous().reshape(-1).view(torch.uint8).numpy()
            )
            sha256 = hashlib.sha256(data).hexdigest()
        dtype = str(parameter.dtype).removeprefix("torch.")
        yield values.FrozenWeight(name, tuple(parameter.shape), dtype, sha256)


def _build_step(step: RecordedStep, tensors: Tensors, notes: list[str]) -> values.WindowStep:
    scale = step.figures.get("scale")
    divisor = scale or 1.0
    norm = step.figures.get("norm")
    if norm is not None and not step.figures.get("is unscaled"):
        norm /= divisor
    passes = tuple(
        _pass(
            kept,
            f"{step.step}.{number}",
            _get_loss_and_factor(step, number, divisor),
            tensors,
            notes,
        )
        for number, kept in enumerate(step.passes)
    )
    losses = [pass_.loss for pass_ in passes if pass_.loss is not None]
    return values.WindowStep(
        step=step.step,
        micro_batches=passes,
        lr=step.rates,
        loss=sum(losses) / len(losses) if losses else None,
        grad_norm=norm,
        scale=scale,
        skipped=scale is not None and norm is not None and not math.isfinite(norm),
    )


def _get_loss_and_factor(
    step: RecordedStep, number: int, scale: float
) -> tuple[float | None, float | None]:
    """Give a pass's loss, and what it was multiplied with, the scale apart."""
    factor = step.figures.get(f"factor {number}")
    known = step.figures.get(f"known factor {number}")
    return step.figures.get(f"loss {number}"), known if factor is None else factor / scale


def _pass(
    kept: RecordedPass,
    prefix: str,
    figures: tuple[float | None, float | None],
    tensors: Tensors,
    notes: list[str],
) -> values.MicroBatch:
    tensors[values.BATCHES_FILE] |= kept.tensors
    tensors[values.RNG_FILE] |= {
        f"{prefix}/{name}": as_tensor(value) for name, value in kept.states.items()
    }
    notes += [f"batch: {path} not recorded" for path in trees.list_unrecorded(kept.tree)]
    if not kept.is_used:
        notes.append("loss: no gradient came to the one that the model gives; name loss=")
    return values.MicroBatch(kept.tree, prefix if kept.states else "", kept.samples, *figures)


def _build_optimizer(
    subject: Subject, snapshot: Snapshot, tensors: Tensors, most_bytes: int, notes: list[str]
) -> values.StoredOptimizer | None:
    if subject.optimizer is None:
        return None
    states = {key[1:]: value for key, value in snapshot.tensors.items() if key[0] == "state"}
    others = sum(count_bytes(value) for held in tensors.values() for value in held.values())
    if others + sum(map(count_bytes, states.values())) > most_bytes:
        notes.append("optimizer state: the capsule would be larger than its limit")
        states = {}
    state: dict[str, dict[str, Any]] = {
        name: dict(entries) for name, entries in snapshot.figures.items()
    }
    for (name, entry), tensor in states.items():
        key = f"{name}/{entry}"
        tensors[values.OPTIMIZER_FILE][key] = tensor
        state.setdefault(name, {})[entry] = {"tensor": key}
    class_ = type(subject.optimizer)
    module = "torch.optim" if class_.__module__.startswith("torch.optim") else class_.__module__
    file = values.OPTIMIZER_FILE if states else None
    return values.StoredOptimizer(
        f"{module}.{class_.__qualname__}", tuple(snapshot.groups), file, state
    )
