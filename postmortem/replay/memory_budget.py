"""Memory that a run of a window takes, and what there is of it.

In: a bench, a regime. Out: bytes. Not here: what follows when it does not fit (`replay.replaying`).

Weights, gradients and the optimiser's state are counted; activations are not known before a pass,
and get as much again as the weights.
"""

import os
from typing import Any, Final

import torch

from postmortem.replay.bench import HALVES, Bench
from postmortem.replay.regime import Regime

GIB: Final = 1 << 30
_SHARE: Final = 0.9
"""Of the free memory that a replay may take."""


def free_memory(device: Any) -> float:
    """Give the bytes that are free on a device; infinite where that cannot be asked."""
    if device.type == "cuda":
        return _SHARE * float(torch.cuda.mem_get_info(device)[0])
    try:
        return _SHARE * float(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):
        return float("inf")


def needed(bench: Bench, regime: Regime) -> float:
    """Estimate the bytes that a run takes beside the bench: weights, gradients, optimiser."""
    trainable = set(bench.manifest.weights.trainable)
    weights = gradients = 0.0
    for name, one in bench.start.items():
        is_trained = name in trainable
        size = float(one.numel() * _width(one.dtype, regime, is_trained=is_trained))
        weights += size
        gradients += size if is_trained else 0.0
    kept = bench.manifest.optimizer
    states = bench.manifest.files.get(kept.file or "") if kept is not None else None
    return 2 * weights + gradients + (float(states.bytes) if states is not None else 0.0)


def _width(dtype: Any, regime: Regime, *, is_trained: bool) -> int:
    is_wide = regime.compute == "float32" or (regime.trainable_float32 and is_trained)
    return 4 if is_wide and dtype in HALVES else int(dtype.itemsize)
