"""Estimate the memory that a run of a window takes, and what is available.

In: a capsule, a regime. Out: bytes; what untrusted code may use. Not here: what follows when it
does not fit (`rerun.replaying`), measuring operations (`rerun.allocation_guard`).

Weights, gradients and the optimiser's state are counted, by the headers of the files, so that it is
known before anything is built; activations are not known before a pass, and get as much again as
the weights.
"""

import math
import os
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import torch

from postmortem.replay.capsule.opening import Capsule
from postmortem.replay.rerun.allocation_guard import MIB, Limits
from postmortem.replay.rerun.regime import Regime

GIB: Final = 1 << 30
_SHARE: Final = 0.9
"""Of the free memory that a replay may take."""
_HALVES: Final = ("F16", "BF16", "float16", "bfloat16")
_BYTES: Final = {"8": 1, "16": 2, "32": 4, "64": 8}
_BUILDING: Final = (48 * MIB, 4)
"""Bytes that building may take, and how often those of the capsule: buffers that are computed."""
_RUNNING: Final = (96 * MIB, 500)
"""The same of a pass: activations are many times the weights in a small model."""
_LEAST: Final = 16 * MIB
"""What a pass may take however little memory is allowed."""
_TENSORS: Final = (1_000, 20)
"""Tensors that building may make, and how many for each weight."""
_WORK: Final = (1_000_000_000, 20_000)
"""Multiplications of one operation, and how many for each byte."""


class _Weight(NamedTuple):
    numbers: int
    dtype: str
    is_trained: bool


def get_free_memory(device: Any) -> float:
    """Give the bytes that are free on a device; infinite where that cannot be asked."""
    if device.type == "cuda":
        return _SHARE * float(torch.cuda.mem_get_info(device)[0])
    try:
        return _SHARE * float(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):
        return float("inf")


def estimate_needed_memory(capsule: Capsule, regime: Regime) -> float:
    """Estimate the bytes that a run takes besides the bench: weights, gradients, optimiser."""
    weights = gradients = 0.0
    for weight in _iter_weights(capsule):
        size = float(weight.numbers * _get_width(weight, regime))
        weights += size
        gradients += size if weight.is_trained else 0.0
    kept = capsule.manifest.optimizer
    states = capsule.manifest.files.get(kept.file or "") if kept is not None else None
    return 2 * weights + gradients + (float(states.bytes) if states is not None else 0.0)


def _iter_weights(capsule: Capsule) -> Iterator[_Weight]:
    kept = capsule.manifest.weights
    trained = set(kept.trainable)
    for name, header in capsule.headers.get(kept.file, {}).items():
        yield _Weight(math.prod(header.shape), header.dtype, name in trained)
    for weight in kept.frozen:
        yield _Weight(math.prod(weight.shape), weight.dtype, is_trained=False)


def _get_width(weight: _Weight, regime: Regime) -> int:
    is_wide = regime.compute == "float32" or (regime.trainable_float32 and weight.is_trained)
    if is_wide and weight.dtype in _HALVES:
        return 4
    return next((size for bits, size in _BYTES.items() if weight.dtype.endswith(bits)), 1)


def compute_building_limits(capsule: Capsule, base_bytes: int) -> Limits:
    """Say what building a model may use: about what the files of the capsule account for."""
    kept = capsule.manifest.weights
    count = len(capsule.headers.get(kept.file, {})) + len(kept.frozen)
    size = _sum_file_bytes(capsule) + base_bytes
    return Limits(
        _compute_limit(_BUILDING, size),
        _compute_limit(_TENSORS, count),
        _compute_limit(_WORK, size),
        math.inf,
    )


def compute_running_limits(capsule: Capsule, base_bytes: int, memory: float, ends: float) -> Limits:
    """Say what a forward pass may use."""
    size = _sum_file_bytes(capsule) + base_bytes
    most = min(max(memory, _LEAST), _compute_limit(_RUNNING, size))
    return Limits(most, math.inf, _compute_limit(_WORK, size), ends)


def _sum_file_bytes(capsule: Capsule) -> int:
    return sum(file.bytes for file in capsule.manifest.files.values())


def _compute_limit(limit: tuple[int, int], count: int) -> float:
    return float(limit[0] + limit[1] * count)
