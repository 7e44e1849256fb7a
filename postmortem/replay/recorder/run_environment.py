"""Describe what a training runs on: device, types, versions.

In: a subject and a snapshot of it. Out: their fields of a manifest. Not here: the model.
"""

import contextlib
import platform
import sys
from collections.abc import Iterator, Mapping
from importlib import metadata
from typing import Any, Final

import torch

from postmortem.replay.capsule import manifest as values
from postmortem.replay.recorder.recorded_objects import Subject
from postmortem.replay.recorder.snapshots import Snapshot

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
) -> values.PrecisionUsed:
    """Tell in which types a training computes."""
    counts: dict[str, int] = {}
    for parameter in (*subject.trainable.values(), *subject.frozen.values()):
        dtype = str(parameter.dtype).removeprefix("torch.")
        counts[dtype] = counts.get(dtype, 0) + int(parameter.numel())
    autocast = values.Autocasting(*cast) if cast is not None else None
    return values.PrecisionUsed(counts, autocast, _read_scaler(subject.scaler, snapshot))


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


def _describe_device(device: Any) -> values.DeviceUsed:
    threads = torch.get_num_threads()
    if device.type != "cuda":
        return values.DeviceUsed(device.type, platform.machine(), None, threads)
    name, capability = torch.cuda.get_device_name(device), torch.cuda.get_device_capability(device)
    return values.DeviceUsed("cuda", name, tuple(capability), threads)


def iter_versions() -> Iterator[tuple[str, str]]:
    """Give the versions of what is imported."""
    yield "python", platform.python_version()
    with contextlib.suppress(metadata.PackageNotFoundError):
        yield "postmortem", metadata.version("train-postmortem")
    modules: Mapping[str, Any] = sys.modules
    for name in _PACKAGES:
        if name in modules and hasattr(modules[name], "__version__"):
            yield name, str(modules[name].__version__)
