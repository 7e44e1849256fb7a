"""Build the content of a capsule from what was recorded, and describe what the training runs on.

In: a tape and the reason. Out: a manifest (device, types and versions among its fields) and its
tensors. Not here: recording, the model's recipe (`recorder.recipes`), writing files.
"""

import contextlib
import hashlib
import math
import platform
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from importlib import metadata
from typing import Any, Final

import torch

from postmortem.replay.capsule import json_values
from postmortem.replay.capsule.manifest import (
    BATCHES_FILE,
    FILES,
    OPTIMIZER_FILE,
    RNG_FILE,
    WEIGHTS_FILE,
    Autocasting,
    Clipping,
    DeviceUsed,
    FrozenWeight,
    LossRecipe,
    Manifest,
    MicroBatch,
    ModelRecipe,
    PrecisionUsed,
    Reason,
    StoredOptimizer,
    StoredWeights,
    Window,
    WindowStep,
)
from postmortem.replay.recorder.recorded_state import (
    Snapshot,
    Subject,
    as_tensor,
    count_bytes,
    get_local_tensor,
    wait,
)
from postmortem.replay.recorder.tape import RecordedPass, RecordedStep, Tape

_PACKAGES: Final = (
    "torch",
    "numpy",
    "safetensors",
    "transformers",
    "accelerate",
    "peft",
    "lightning",
    "pytorch_lightning",
    "mmengine",
    "xtuner",
    "deepspeed",
)


def collect_environment(subject: Subject) -> dict[str, Any]:
    """Give what is the same for the whole training."""
    return {
        "device": _describe_device(subject.device),
        "train_mode": bool(subject.model.training),
        "seed": torch.initial_seed(),
        "deterministic": torch.are_deterministic_algorithms_enabled(),
    }


def describe_precision(
    subject: Subject, snapshot: Snapshot, cast: tuple[bool, str, str] | None
) -> PrecisionUsed:
    """Tell in which types a training computes."""
    counts: dict[str, int] = {}
    for parameter in (*subject.trainable.values(), *subject.frozen.values()):
        dtype = str(parameter.dtype).removeprefix("torch.")
        counts[dtype] = counts.get(dtype, 0) + int(parameter.numel())
    autocast = Autocasting(*cast) if cast is not None else None
    return PrecisionUsed(counts, autocast, _read_scaler(subject.scaler, snapshot))


def _read_scaler(scaler: Any, snapshot: Snapshot) -> dict[str, Any] | None:
    """Give the scaler's figures as they were at the window's start."""
    if scaler is None or not hasattr(scaler, "get_growth_factor"):
        return None
    scale = snapshot.tensors.get(("scaler", "_scale"))
    tracker = snapshot.tensors.get(("scaler", "_growth_tracker"))
    return {
        "scale": getattr(scaler, "_init_scale", None) if scale is None else float(scale),
        "growth_factor": scaler.get_growth_factor(),
        "backoff_factor": scaler.get_backoff_factor(),
        "growth_interval": scaler.get_growth_interval(),
        "_growth_tracker": 0 if tracker is None else int(tracker),
    }


def _describe_device(device: Any) -> DeviceUsed:
    threads = torch.get_num_threads()
    if device.type != "cuda":
        return DeviceUsed(device.type, platform.machine(), None, threads)
    name, capability = torch.cuda.get_device_name(device), torch.cuda.get_device_capability(device)
    return DeviceUsed("cuda", name, tuple(capability), threads)


def iter_versions() -> Iterator[tuple[str, str]]:
    """Give the versions of what is imported."""
    yield "python", platform.python_version()
    with contextlib.suppress(metadata.PackageNotFoundError):
        yield "postmortem", metadata.version("train-postmortem")
    modules: Mapping[str, Any] = sys.modules
    for name in _PACKAGES:
        if name in modules and hasattr(modules[name], "__version__"):
            yield name, str(modules[name].__version__)


_MOST_HASHED: Final = 32 << 30
"""Bytes of frozen weights whose checksums are computed."""
_MOST_KEPT: Final = 1 << 30
"""Bytes of frozen weights that are written where they lie nowhere else."""
Tensors = dict[str, dict[str, Any]]


@dataclass(slots=True)
class RunDetails:
    """What is known of a training besides its tape."""

    model: ModelRecipe
    loss: LossRecipe
    framework: str = "pytorch"
    clipping: Clipping | None = None
    autocast: tuple[bool, str, str] | None = None
    notes: list[str] = field(default_factory=list)


def build_content(
    tape: Tape, details: RunDetails, reason: Reason, most_bytes: int
) -> tuple[Manifest, Tensors]:
    """Put a capsule together.

    Raises:
        ValueError: no step was recorded.
    """
    steps = [step for step in tape.steps if step.step <= reason.step and step.passes]
    snapshot = tape.ring.oldest
    if snapshot is None or not steps:
        raise ValueError("no step was recorded")
    notes = [*_wait_for_copies(steps), *details.notes, *tape.notes, *snapshot.left_out]
    subject = tape.subject
    tensors: Tensors = {name: {} for name in FILES}
    weights = _build_weights(subject, snapshot, details, tensors, notes)
    window = Window(
        steps[0].step, steps[-1].step, tuple(_build_step(step, tensors, notes) for step in steps)
    )
    optimizer = _build_optimizer(subject, snapshot, tensors, most_bytes, notes)
    manifest = Manifest(
        written_at=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        reason=reason,
        model=details.model,
        weights=weights,
        window=window,
        versions=dict(iter_versions()),
        framework=details.framework,
        precision=describe_precision(subject, snapshot, details.autocast),
        loss=details.loss,
        optimizer=optimizer,
        clipping=details.clipping,
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
    subject: Subject, snapshot: Snapshot, details: RunDetails, tensors: Tensors, notes: list[str]
) -> StoredWeights:
    held = tensors[WEIGHTS_FILE]
    names: dict[str, list[str]] = {"weight": [], "buffer": []}
    for key, tensor in snapshot.tensors.items():
        if key[0] in names:
            held[key[1]] = tensor
            names[key[0]].append(key[1])
    base = details.model.base.path if details.model.base is not None else ""
    size = sum(map(count_bytes, subject.frozen.values()))
    kept = [] if base or size > _MOST_KEPT else [*subject.frozen]
    held.update(
        {name: get_local_tensor(subject.frozen[name]).to("cpu", copy=True) for name in kept}
    )
    if subject.frozen and not kept and not base:
        notes.append("frozen weights: neither in the capsule nor known where they come from")
    return StoredWeights(
        trainable=tuple(names["weight"]),
        buffers=tuple(names["buffer"]),
        frozen=() if kept else tuple(_iter_frozen_weights(subject, hashed=size <= _MOST_HASHED)),
        kept=tuple(kept),
        frozen_from=base or None,
        tied=tuple(subject.tied),
    )


def _iter_frozen_weights(subject: Subject, *, hashed: bool) -> Iterator[FrozenWeight]:
    for name, parameter in subject.frozen.items():
        sha256 = ""
        if hashed:
            data = (
                get_local_tensor(parameter).cpu().contiguous().reshape(-1).view(torch.uint8).numpy()
            )
            sha256 = hashlib.sha256(data).hexdigest()
        dtype = str(parameter.dtype).removeprefix("torch.")
        yield FrozenWeight(name, tuple(parameter.shape), dtype, sha256)


def _build_step(step: RecordedStep, tensors: Tensors, notes: list[str]) -> WindowStep:
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
    return WindowStep(
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
) -> MicroBatch:
    tensors[BATCHES_FILE] |= kept.tensors
    tensors[RNG_FILE] |= {
        f"{prefix}/{name}": as_tensor(value) for name, value in kept.states.items()
    }
    notes += [f"batch: {path} not recorded" for path in json_values.list_unrecorded(kept.tree)]
    if not kept.is_used:
        notes.append("loss: no gradient came to the one that the model gives; name loss=")
    return MicroBatch(kept.tree, prefix if kept.states else "", kept.samples, *figures)


def _build_optimizer(
    subject: Subject, snapshot: Snapshot, tensors: Tensors, most_bytes: int, notes: list[str]
) -> StoredOptimizer | None:
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
        tensors[OPTIMIZER_FILE][key] = tensor
        state.setdefault(name, {})[entry] = {"tensor": key}
    class_ = type(subject.optimizer)
    module = "torch.optim" if class_.__module__.startswith("torch.optim") else class_.__module__
    file = OPTIMIZER_FILE if states else None
    return StoredOptimizer(f"{module}.{class_.__qualname__}", tuple(snapshot.groups), file, state)
